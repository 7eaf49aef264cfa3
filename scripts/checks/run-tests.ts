import { globSync } from "node:fs";
import { relative, resolve as resolvePath } from "node:path";
import { run } from "node:test";
import { inspect } from "node:util";
import { folderOf, loadTogether } from "./load-together.ts";
import { REPOSITORY } from "./run-tool.ts";
import { TEST_CACHE } from "./test-cache.ts";

const TEST_TIMEOUT_MS = 180_000;
/** A file that left something open never ends; when every file that still runs is silent this long, they are killed. */
const SILENCE_MS = 240_000;
/** Every file loads the same sources: without it, each compiles all of them again, which takes longer than most tests. */
const COMPILED_CODE = { NODE_COMPILE_CACHE: TEST_CACHE };

export interface TestCounts {
  readonly tests: number;
  readonly suites: number;
  readonly passed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly skipped: number;
  readonly todo: number;
}

export interface TestRun {
  readonly globPatterns: readonly string[];
  /** Started before all others, in this order: a long file that came last would run alone. */
  readonly longest?: readonly string[];
  /** Folders whose files share a process, as far as they can: loading the sources takes longer than most tests. */
  readonly together?: readonly string[];
  readonly concurrency: number;
  readonly silenceMs?: number;
  /** Beside this process's own. */
  readonly environment?: NodeJS.ProcessEnv;
}

export const NO_TESTS: TestCounts = { tests: 0, suites: 0, passed: 0, failed: 0, cancelled: 0, skipped: 0, todo: 0 };

/** Runs test files, each in its own process, and prints a line for each and every failure in full. */
export function runTests(options: TestRun, print: (line: string) => void): Promise<TestCounts> {
  const { concurrency, silenceMs = SILENCE_MS } = options;
  const files = listFiles(options);
  const env = { ...process.env, ...COMPILED_CODE, ...options.environment };
  const spoken = new Map<string, string>();
  const running = new Set<string>();
  const stop = new AbortController();
  let counts = NO_TESTS;
  return new Promise((resolve, reject) => {
    const stream = run({
      cwd: REPOSITORY,
      env,
      files,
      concurrency,
      timeout: TEST_TIMEOUT_MS,
      signal: stop.signal,
    });
    const silence = setTimeout(() => {
      print(`  killed after ${seconds(silenceMs)} of silence: ${[...running].join(", ")}`);
      stop.abort();
    }, silenceMs);
    const hear = ({ file, message }: { file: string; message: string }): void => {
      const place = placeOf(file);
      spoken.set(place, (spoken.get(place) ?? "") + message);
    };
    stream.on("data", () => silence.refresh());
    stream.on("test:stdout", hear);
    stream.on("test:stderr", hear);
    stream.on("test:dequeue", ({ file }) => running.add(placeOf(file ?? "")));
    stream.on("test:fail", ({ name, file, line, details: { error } }) => {
      if (hasFailureType(error, "subtestsFailed")) return;
      print(`  FAILED ${placeOf(file ?? "")}:${line ?? 1} ${name}`);
      print(indent(inspect(error.cause ?? error)));
    });
    stream.on("test:summary", ({ file, success, counts: found, duration_ms: durationMs }) => {
      if (file === undefined) {
        counts = withFailures(found);
        return;
      }
      const place = placeOf(file);
      print(`  ${success ? "ok" : "failed"} ${place} (${found.tests}, ${seconds(durationMs)})`);
      running.delete(place);
      if (success) spoken.delete(place);
    });
    stream.on("error", reject);
    stream.on("end", () => {
      clearTimeout(silence);
      for (const [file, text] of spoken) print(`  printed by ${file}:\n${indent(text.trimEnd())}`);
      resolve(counts);
    });
  });
}

function listFiles({ globPatterns, longest = [], together = [] }: TestRun): string[] {
  const found = globPatterns.flatMap((pattern) => globSync(pattern, { cwd: REPOSITORY })).sort();
  const missing = longest.filter((file) => !found.includes(file));
  if (missing.length > 0) throw new Error(`there is no ${missing.join(", ")}`);
  const { loaders, apart } = loadTogether(together, found);
  return [...loaders, ...longest, ...apart.filter((file) => !longest.includes(file))];
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
