import { relative, resolve as resolvePath } from "node:path";
import { type EventData, run } from "node:test";
import { inspect } from "node:util";
import type { TestProcess } from "./shared-test-processes.ts";
import { REPOSITORY } from "./run-tool.ts";
import { NO_TESTS, type TestCounts } from "./test-counts.ts";

const TEST_TIMEOUT_MS = 180_000;
/** Most tests start processes, and for each of them the system copies the page tables of this process. */
const SMALL = ["--max-semi-space-size=4"];

export interface TestProcessRun {
  readonly environment: NodeJS.ProcessEnv;
  /** URLs of modules to load before the file. */
  readonly before: readonly string[];
  /** A file that left something open never ends: it is killed after this much time without output. */
  readonly silenceMs: number;
  readonly print: (line: string) => void;
}

/** Runs test files in one process. Prints a line for each file, and every failure in full. */
export function runTestProcess(
  { file, tests }: TestProcess,
  { environment, before, silenceMs, print }: TestProcessRun,
): Promise<TestCounts> {
  const isShared = tests.length > 1;
  const places = tests.map(placeOf);
  const stop = new AbortController();
  let spoken = "";
  let ended = 0;
  let testsOfFile = 0;
  let brokenSuites = 0;
  let counts = NO_TESTS;
  return new Promise((resolve, reject) => {
    const stream = run({
      cwd: REPOSITORY,
      env: environment,
      files: [file],
      execArgv: [...SMALL, ...before.flatMap((url) => ["--import", url])],
      timeout: TEST_TIMEOUT_MS * tests.length,
      signal: stop.signal,
    });
    const silence = setTimeout(() => {
      print(`  killed after ${seconds(silenceMs)} of silence: ${place()}`);
      stop.abort();
    }, silenceMs);
    const hear = ({ message }: { message: string }): void => {
      spoken += message;
    };
    const place = (): string => places[Math.min(ended, places.length - 1)] ?? file;
    const endFile = (isGood: boolean, durationMs: number): void => {
      print(`  ${isGood ? "ok" : "failed"} ${place()} (${testsOfFile}, ${seconds(durationMs)})`);
      testsOfFile = 0;
      ended++;
    };
    // Each file that shares a process is a suite of it.
    const see = ({ nesting, details }: EventData.TestPass | EventData.TestFail, isGood: boolean): void => {
      if (details.type !== "suite") testsOfFile++;
      if (isShared && nesting === 0) endFile(isGood, details.duration_ms);
    };
    stream.on("data", () => silence.refresh());
    stream.on("test:stdout", hear);
    stream.on("test:stderr", hear);
    stream.on("test:pass", (event) => see(event, true));
    stream.on("test:fail", (event) => {
      const { name, file: at, line, details } = event;
      const { error } = details;
      if (!hasFailureType(error, "subtestsFailed")) {
        print(`  FAILED ${placeOf(at ?? file)}:${line ?? 1} ${name}`);
        print(indent(inspect(error.cause ?? error)));
        // A failure outside of all tests: a file that does not load, or a hook after all tests.
        if (details.type === "suite") brokenSuites++;
      }
      see(event, false);
    });
    stream.on("test:summary", ({ file: of, success, counts: found, duration_ms: durationMs }) => {
      if (success) spoken = "";
      if (of === undefined) counts = countsOf(found, { brokenSuites, sharedFiles: isShared ? ended : 0 });
      else if (!isShared) endFile(success, durationMs);
    });
    stream.on("error", reject);
    stream.on("end", () => {
      clearTimeout(silence);
      if (spoken !== "") print(`  printed by ${places.join(", ")}:\n${indent(spoken.trimEnd())}`);
      resolve(counts);
    });
  });
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** Events contain both absolute and relative paths. */
function placeOf(file: string): string {
  return relative(REPOSITORY, resolvePath(REPOSITORY, file));
}

function hasFailureType(error: Error, type: string): boolean {
  return "failureType" in error && error.failureType === type;
}

interface BesidesTests {
  readonly brokenSuites: number;
  readonly sharedFiles: number;
}

/**
 * A suite that failed outside of its tests counts as a failed test; files that share a process do not count as suites.
 */
function countsOf(found: Omit<TestCounts, "failed">, { brokenSuites, sharedFiles }: BesidesTests): TestCounts {
  const { passed, cancelled, skipped, todo } = found;
  const tests = found.tests + brokenSuites;
  const suites = found.suites - sharedFiles;
  return { tests, suites, passed, failed: tests - passed - cancelled - skipped - todo, cancelled, skipped, todo };
}

function indent(text: string): string {
  return text.replace(/^/gm, "    ");
}
