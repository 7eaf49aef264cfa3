import type { Clock } from "@narthex/kernel";

/** A clock that stands still until it is moved. */
export interface TestClock extends Clock {
  advance(ms: number): void;
}

const START_MS = Date.UTC(2026, 0, 1);

/**
 * Creates a clock for a test kernel: it sets the time of records, and of comparisons such as the end of a session or a
 * lease. Timeouts of calls are timers, and run on real time.
 */
export function createTestClock(startMs: number = START_MS): TestClock {
  let passedMs = 0;
  return {
    nowMs: () => startMs + passedMs,
    monotonicMs: () => passedMs,
    advance(ms) {
      if (!(ms >= 0)) throw new RangeError("a test clock moves forward only");
      passedMs += ms;
    },
  };
}
