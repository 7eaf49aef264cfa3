import { enableCompileCache } from "node:module";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { createLanes } from "./lanes.ts";
import { seconds } from "./run-test-process.ts";
import { runTests, type TestRun } from "./run-tests.ts";
import { REPOSITORY } from "./run-tool.ts";
import type { Step } from "./steps.ts";
import { TEST_CACHE } from "./test-cache.ts";
import { addCounts, NO_TESTS, type TestCounts } from "./test-counts.ts";

/** Four more than there are cores: tests mostly wait for processes, disks and clocks. */
const lanes = createLanes(Math.min(6, availableParallelism() + 4));

/** Runs every step, even after a failure, and returns the exit code. All steps share the lanes; checks start first. */
export async function runSteps(steps: readonly Step[], budgetMs: number): Promise<number> {
  const startedMs = performance.now();
  const failures: string[] = [];
  let total = NO_TESTS;
  if (steps.some(({ tests }) => tests !== undefined)) {
    // Imported only for tests: it loads the sources, which would slow down a single check; the tests have them
    // compiled.
    enableCompileCache(TEST_CACHE);
    const { checkDefaultPolicy } = await import("../build/check-default-policy.ts");
    await checkDefaultPolicy(join(REPOSITORY, "policies"));
  }
  const run = async (step: Step): Promise<void> => {
    const { counts, note, details, durationMs } = await runStep(step);
    const isFailure = counts.passed < counts.tests;
    if (isFailure) failures.push(step.name);
    if (details !== "") print(details);
    const remark = note === "" ? "" : `: ${note}`;
    print(`${isFailure ? "FAILED" : "ok"} ${step.name} (${seconds(durationMs)})${remark}`);
    total = addCounts(total, counts);
  };
  await Promise.all(steps.map(run));
  if (failures.length > 0) print(`\nfailed: ${failures.join(", ")} (one of them again: npm test -- ${failures[0]})`);
  const durationMs = performance.now() - startedMs;
  if (durationMs > budgetMs)
    print(`\nSLOW: ${seconds(durationMs)}; expected at most ${seconds(budgetMs)} on two cores`);
  printClosingLines(total, durationMs);
  return failures.length > 0 ? 1 : 0;
}

interface StepEnd {
  readonly counts: TestCounts;
  readonly note: string;
  readonly details: string;
  readonly durationMs: number;
}

/** A check counts as one test. */
async function runStep(step: Step): Promise<StepEnd> {
  const startedMs = performance.now();
  if (step.tests !== undefined) {
    const counts =
      step.startsCommand === true ? await runOnCommand(step.tests) : await runTests(step.tests, lanes, print);
    const durationMs = performance.now() - startedMs;
    if (counts.tests > 0) return { counts, note: `${counts.tests} tests`, details: "", durationMs };
    return { counts: { ...NO_TESTS, tests: 1, failed: 1 }, note: "", details: "  there are no tests", durationMs };
  }
  return await lanes.run(async () => {
    const begunMs = performance.now();
    const { passed, note, details } = await runCheck(step);
    const counts = { ...NO_TESTS, tests: 1, passed: passed ? 1 : 0, failed: passed ? 0 : 1 };
    return { counts, note, details, durationMs: performance.now() - begunMs };
  });
}

/** Tests start the command hundreds of times, so it is built once, as it is published. One test starts the sources. */
async function runOnCommand(tests: TestRun): Promise<TestCounts> {
  const { buildCommand, kernelsRunning } = await import("../build/build-command.ts");
  await using command = await buildCommand();
  const environment = { NARTHEX_TEST_COMMAND: command.program };
  // Files that open a kernel themselves import the built packages too, which load in a third of the time of the
  // sources.
  const before = [new URL("../../test/built/load-built-packages.ts", import.meta.url).href];
  const counts = await runTests({ ...tests, environment, before }, lanes, print);
  const left = await kernelsRunning(command.program);
  if (left.length === 0) return counts;
  print(`FAILED tests left kernels behind that clients started: process ${left.join(", ")}`);
  return addCounts(counts, { ...NO_TESTS, tests: 1, failed: 1 });
}

async function runCheck(step: Step): Promise<{ passed: boolean; note: string; details: string }> {
  try {
    return (await step.check?.()) ?? { passed: false, note: "", details: "nothing to do" };
  } catch (error) {
    return { passed: false, note: "", details: String(error) };
  }
}

/** Prints the summary in the format of Node's own test runner, for tools that parse it, and one line for people. */
function printClosingLines(total: TestCounts, durationMs: number): void {
  print("");
  print(`# tests ${total.tests}`);
  print(`# suites ${total.suites}`);
  print(`# pass ${total.passed}`);
  print(`# fail ${total.failed}`);
  print(`# cancelled ${total.cancelled}`);
  print(`# skipped ${total.skipped}`);
  print(`# todo ${total.todo}`);
  print(`# duration_ms ${durationMs.toFixed(0)}`);
  print(`${total.passed} passed, ${total.tests - total.passed} failed`);
}

export function print(line: string): void {
  console.log(line);
}
