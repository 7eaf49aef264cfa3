import { availableParallelism } from "node:os";
import { join } from "node:path";
import { buildCommand } from "../build/build-command.ts";
import { checkDefaultPolicy } from "../build/check-default-policy.ts";
import { NO_TESTS, runTests, seconds, type TestCounts, type TestRun } from "./run-tests.ts";
import { REPOSITORY } from "./run-tool.ts";
import { STEPS, type Step } from "./steps.ts";

/** Each of them is busy on one core, mostly. */
const CHECKS_AT_ONCE = Math.max(2, Math.min(4, availableParallelism()));

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !STEPS.some((step) => step.name === name));
if (unknown.length > 0) {
  print(`no step is called \`${unknown.join("`, `")}\`; there are: ${STEPS.map((step) => step.name).join(", ")}`);
  process.exitCode = 2;
} else {
  process.exitCode = await runAll(STEPS.filter((step) => chosen.length === 0 || chosen.includes(step.name)));
}

/** Runs every step, whatever the others found, and answers the exit code. Checks run side by side, then tests. */
async function runAll(steps: readonly Step[]): Promise<number> {
  const startedMs = performance.now();
  const failures: string[] = [];
  let total = NO_TESTS;
  const run = async (step: Step): Promise<void> => {
    const stepStartedMs = performance.now();
    const { counts, note, details } = await runStep(step);
    const isFailure = counts.passed < counts.tests;
    if (isFailure) failures.push(step.name);
    if (details !== "") print(details);
    const remark = note === "" ? "" : `: ${note}`;
    print(`${isFailure ? "FAILED" : "ok"} ${step.name} (${seconds(performance.now() - stepStartedMs)})${remark}`);
    total = add(total, counts);
  };
  const checks = steps.filter(({ tests }) => tests === undefined);
  const lane = async (): Promise<void> => {
    for (let check = checks.shift(); check !== undefined; check = checks.shift()) await run(check);
  };
  await Promise.all(Array.from({ length: CHECKS_AT_ONCE }, lane));
  const tests = steps.filter((step) => step.tests !== undefined);
  if (tests.length > 0) await checkDefaultPolicy(join(REPOSITORY, "policies"));
  for (const step of tests) await run(step);
  if (failures.length > 0) print(`\nfailed: ${failures.join(", ")} (one of them again: npm test -- ${failures[0]})`);
  printClosingLines(total, performance.now() - startedMs);
  return failures.length > 0 ? 1 : 0;
}

/** A check counts as one test. */
async function runStep(step: Step): Promise<{ counts: TestCounts; note: string; details: string }> {
  if (step.tests !== undefined) {
    const counts = step.startsCommand === true ? await runOnCommand(step.tests) : await runTests(step.tests, print);
    if (counts.tests > 0) return { counts, note: `${counts.tests} tests`, details: "" };
    return { counts: { ...NO_TESTS, tests: 1, failed: 1 }, note: "", details: "  there are no tests" };
  }
  const result = await runCheck(step);
  const counts = { ...NO_TESTS, tests: 1, passed: result.passed ? 1 : 0, failed: result.passed ? 0 : 1 };
  return { counts, note: result.note, details: result.details };
}

/** Tests start the command hundreds of times: it is built once, as it is published. One of them starts the sources. */
async function runOnCommand(tests: TestRun): Promise<TestCounts> {
  await using command = await buildCommand();
  return await runTests({ ...tests, environment: { NARTHEX_TEST_COMMAND: command.program } }, print);
}

async function runCheck(step: Step): Promise<{ passed: boolean; note: string; details: string }> {
  try {
    return (await step.check?.()) ?? { passed: false, note: "", details: "nothing to do" };
  } catch (error) {
    return { passed: false, note: "", details: String(error) };
  }
}

function add(left: TestCounts, right: TestCounts): TestCounts {
  return {
    tests: left.tests + right.tests,
    suites: left.suites + right.suites,
    passed: left.passed + right.passed,
    failed: left.failed + right.failed,
    cancelled: left.cancelled + right.cancelled,
    skipped: left.skipped + right.skipped,
    todo: left.todo + right.todo,
  };
}

/** The closing lines of Node's own test runner, for whoever reads those, and the same in words. */
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

function print(line: string): void {
  console.log(line);
}
