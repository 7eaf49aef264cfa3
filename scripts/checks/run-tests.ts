import { globSync } from "node:fs";
import type { Lanes } from "./lanes.ts";
import { alone, loadTogether, type SharedFolder, type TestProcess } from "./shared-test-processes.ts";
import { runTestProcess } from "./run-test-process.ts";
import { REPOSITORY } from "./run-tool.ts";
import { TEST_CACHE } from "./test-cache.ts";
import { addCounts, NO_TESTS, type TestCounts } from "./test-counts.ts";

const SILENCE_MS = 240_000;
/**
 * Every file loads the same sources: without the cache, each one compiles all of them again, which takes longer than
 * most tests.
 */
const COMPILED_CODE = { NODE_COMPILE_CACHE: TEST_CACHE };

export interface TestRun {
  readonly globPatterns: readonly string[];
  /** Started before all others, in this order: a long file at the end would run alone. */
  readonly longest?: readonly string[];
  /** Started after those, in this order. */
  readonly together?: readonly SharedFolder[];
  /** URLs of modules to load before each file. */
  readonly before?: readonly string[];
  readonly silenceMs?: number;
  /** Added to this process's own. */
  readonly environment?: NodeJS.ProcessEnv;
}

/** Runs test files, each in its own process unless it shares one, and returns the counts. */
export async function runTests(options: TestRun, lanes: Lanes, print: (line: string) => void): Promise<TestCounts> {
  const { before = [], silenceMs = SILENCE_MS } = options;
  const environment = { ...process.env, ...COMPILED_CODE, ...options.environment };
  const running = listProcesses(options).map((tests) =>
    lanes.run(() => runTestProcess(tests, { environment, before, silenceMs, print })),
  );
  return (await Promise.all(running)).reduce(addCounts, NO_TESTS);
}

function listProcesses({ globPatterns, longest = [], together = [] }: TestRun): TestProcess[] {
  const found = globPatterns.flatMap((pattern) => globSync(pattern, { cwd: REPOSITORY })).sort();
  const missing = longest.filter((file) => !found.includes(file));
  if (missing.length > 0) throw new Error(`there is no ${missing.join(", ")}`);
  const others = found.filter((file) => !longest.includes(file));
  return [...longest.map(alone), ...loadTogether(together, others)];
}
