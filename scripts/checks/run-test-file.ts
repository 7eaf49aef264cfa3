import { relative, resolve as resolvePath } from "node:path";
import { run } from "node:test";
import { inspect } from "node:util";
import { folderOf } from "./load-together.ts";
import { REPOSITORY } from "./run-tool.ts";
import { NO_TESTS, type TestCounts } from "./test-counts.ts";

const TEST_TIMEOUT_MS = 180_000;
/** Most tests start processes, and the system copies the tables of a process's memory for each. */
const SMALL = "--max-semi-space-size=4";

export interface TestFileRun {
  readonly environment: NodeJS.ProcessEnv;
  /** Modules that are loaded before the file, by their addresses. */
  readonly before: readonly string[];
  /** A file that left something open never ends: it is killed when it is silent this long. */
  readonly silenceMs: number;
  readonly print: (line: string) => void;
}

/** Runs a test file in its own process, and prints a line for it and every failure in full. */
export function runTestFile(file: string, { environment, before, silenceMs, print }: TestFileRun): Promise<TestCounts> {
  const place = placeOf(file);
  const stop = new AbortController();
  let spoken = "";
  let counts = NO_TESTS;
  return new Promise((resolve, reject) => {
    const stream = run({
      cwd: REPOSITORY,
      env: environment,
      files: [file],
      execArgv: [SMALL, ...before.flatMap((url) => ["--import", url])],
      timeout: TEST_TIMEOUT_MS,
      signal: stop.signal,
    });
    const silence = setTimeout(() => {
      print(`  killed after ${seconds(silenceMs)} of silence: ${place}`);
      stop.abort();
    }, silenceMs);
    const hear = ({ message }: { message: string }): void => {
      spoken += message;
    };
    stream.on("data", () => silence.refresh());
    stream.on("test:stdout", hear);
    stream.on("test:stderr", hear);
    stream.on("test:fail", ({ name, file: at, line, details: { error } }) => {
      if (hasFailureType(error, "subtestsFailed")) return;
      print(`  FAILED ${placeOf(at ?? file)}:${line ?? 1} ${name}`);
      print(indent(inspect(error.cause ?? error)));
    });
    stream.on("test:summary", ({ file: of, success, counts: found, duration_ms: durationMs }) => {
      if (of === undefined) {
        counts = withFailures(found);
        return;
      }
      print(`  ${success ? "ok" : "failed"} ${place} (${found.tests}, ${seconds(durationMs)})`);
      if (success) spoken = "";
    });
    stream.on("error", reject);
    stream.on("end", () => {
      clearTimeout(silence);
      if (spoken !== "") print(`  printed by ${place}:\n${indent(spoken.trimEnd())}`);
      resolve(counts);
    });
  });
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** Events name files in both ways. */
function placeOf(file: string): string {
  const path = resolvePath(REPOSITORY, file);
  return folderOf(path) ?? relative(REPOSITORY, path);
}

function hasFailureType(error: Error, type: string): boolean {
  return "failureType" in error && error.failureType === type;
}

function withFailures(counts: Omit<TestCounts, "failed">): TestCounts {
  const { tests, suites, passed, cancelled, skipped, todo } = counts;
  return { tests, suites, passed, failed: tests - passed - cancelled - skipped - todo, cancelled, skipped, todo };
}

function indent(text: string): string {
  return text.replace(/^/gm, "    ");
}
