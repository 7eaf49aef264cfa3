import { globSync } from "node:fs";
import type { Lanes } from "./lanes.ts";
import { loadTogether } from "./load-together.ts";
import { runTestFile } from "./run-test-file.ts";
import { REPOSITORY } from "./run-tool.ts";
import { TEST_CACHE } from "./test-cache.ts";
import { addCounts, NO_TESTS, type TestCounts } from "./test-counts.ts";

const SILENCE_MS = 240_000;
/** Every file loads the same sources: without it, each compiles all of them again, which takes longer than most tests. */
const COMPILED_CODE = { NODE_COMPILE_CACHE: TEST_CACHE };

export interface TestRun {
  readonly globPatterns: readonly string[];
  /** Started before all others, in this order: a long file that came last would run alone. */
  readonly longest?: readonly string[];
  /** Folders whose files share a process, as far as they can: loading the sources takes longer than most tests. */
  readonly together?: readonly string[];
  /** Modules that are loaded before each file, by their addresses. */
  readonly before?: readonly string[];
  readonly silenceMs?: number;
  /** Beside this process's own. */
  readonly environment?: NodeJS.ProcessEnv;
}

/** Runs test files, each in its own process, and gives what they came to. */
export async function runTests(options: TestRun, lanes: Lanes, print: (line: string) => void): Promise<TestCounts> {
  const { before = [], silenceMs = SILENCE_MS } = options;
  const environment = { ...process.env, ...COMPILED_CODE, ...options.environment };
  const running = listFiles(options).map((file) =>
    lanes.run(() => runTestFile(file, { environment, before, silenceMs, print })),
  );
  return (await Promise.all(running)).reduce(addCounts, NO_TESTS);
}

function listFiles({ globPatterns, longest = [], together = [] }: TestRun): string[] {
  const found = globPatterns.flatMap((pattern) => globSync(pattern, { cwd: REPOSITORY })).sort();
  const missing = longest.filter((file) => !found.includes(file));
  if (missing.length > 0) throw new Error(`there is no ${missing.join(", ")}`);
  const { loaders, apart } = loadTogether(together, found);
  return [...loaders, ...longest, ...apart.filter((file) => !longest.includes(file))];
}
