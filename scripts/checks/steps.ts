import { existsSync } from "node:fs";
import { join } from "node:path";
import { type CheckResult, failed, passed } from "./check.ts";
import { checkGeneratedCode } from "./generated-code.ts";
import { checkImports } from "./imports/check-imports.ts";
import { lint } from "./lint.ts";
import { checkLockFile } from "./lock-file.ts";
import { checkRequirements } from "./requirements.ts";
import { runProcess } from "./run-process.ts";
import type { TestRun } from "./run-tests.ts";
import { checkByTool, REPOSITORY, runTool } from "./run-tool.ts";
import { TEST_CACHE } from "./test-cache.ts";
import { checkWording } from "./wording.ts";

/** A step is one check, or a run of tests. */
export interface Step {
  readonly name: string;
  readonly check?: () => CheckResult | Promise<CheckResult>;
  readonly tests?: TestRun;
  /** Whether they run the `narthex` command. */
  readonly startsCommand?: boolean;
}

/** The whole-system tests that take longest, the slowest first. */
const LONGEST = [
  "package/package",
  "guides/guides",
  "tools/git",
  "tools/mcp-servers-hostile",
  "campaigns/samples",
  "attacks/processes",
  "examples/examples",
].map((name) => `test/${name}.test.ts`);

/** Folders of the sources whose tests share one process each, the slowest first. */
const UNITS = [
  "tools/src/git",
  "tools",
  "host/src/files",
  "host/src/store",
  "host/src/sandbox",
  "host",
  "kernel",
  "contracts",
  "server",
  "narthex",
  "agent",
  "verify",
  "meter",
  "testkit",
].map((name) => ({ folder: `packages/${name}` }));

/** Folders of whole-system tests whose files share processes, the slowest first. */
const SYSTEMS = ["tools", "crash", "doors", "attacks", "cli", "network", "interop", "wasm", "erasure", "campaigns"]
  .concat("repository", "package", "properties")
  .map((name) => ({ folder: `test/${name}`, atMost: 6 }));

/** All steps of `npm test`. `npm test -- NAME...` runs only the named ones. Checks are started longest first. */
export const STEPS: readonly Step[] = [
  { name: "types-and-lint", check: () => checkByTool(lint([])) },
  { name: "imports", check: () => checkImports() },
  { name: "unused", check: () => checkByTool(runTool("knip/bin/knip.js", ["--no-progress", "--no-config-hints"])) },
  { name: "generated", check: checkGeneratedCode },
  {
    name: "format",
    check: () => checkByTool(runTool("@biomejs/biome/bin/biome", ["format", "--reporter=summary", "."])),
  },
  { name: "codes-page", check: () => checkWritten("scripts/codes-page.ts") },
  { name: "readers", check: () => checkWritten("scripts/ledger-readers.ts") },
  { name: "vectors", check: () => checkWritten("scripts/vectors.ts") },
  { name: "reference", check: () => checkWritten("scripts/reference/write-reference.ts") },
  { name: "lock-file", check: () => checkLockFile() },
  { name: "wording", check: () => checkWording() },
  { name: "requirements", check: () => checkRequirements() },
  { name: "unit", tests: { globPatterns: ["packages/*/src/**/*.test.ts"], together: UNITS } },
  {
    name: "system",
    tests: { globPatterns: ["test/**/*.test.ts"], longest: LONGEST, together: SYSTEMS },
    startsCommand: true,
  },
];

/** Runs a script that writes files with `--check`, which reports whether the files are up to date. */
async function checkWritten(script: string): Promise<CheckResult> {
  if (!existsSync(join(REPOSITORY, script))) return passed(`without ${script}, which does not exist`);
  const { code, output } = await runProcess(process.execPath, [script, "--check"], REPOSITORY, {
    NODE_COMPILE_CACHE: TEST_CACHE,
  });
  return code === 0 ? passed() : failed(output);
}
