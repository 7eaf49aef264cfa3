import type { ProcessResult } from "./run-process.ts";
import { REPOSITORY, runTool } from "./run-tool.ts";

/** The linter keeps almost all of its memory until it ends, and garbage collection took a third of its time. */
const ENVIRONMENT = { GOGC: "400" };

/** Runs the linter, which also reports compiler errors: both need all types, and computing them once is faster. */
export function lint(words: readonly string[], cwd = REPOSITORY): Promise<ProcessResult> {
  return runTool("oxlint/bin/oxlint", ["--format=unix", ...words], cwd, ENVIRONMENT);
}
