/**
 * Counts wrong codes.
 *
 * SECURITY: a code of 256 bits cannot be guessed, however many attempts are made; the limit keeps a flood of attempts
 * from costing anything. A correct code is accepted regardless, so that no user of this machine can lock the others
 * out.
 */
export interface FailureLimit {
  /** Returns false if there were too many within a minute. */
  count(): boolean;
}

const WINDOW_MS = 60_000;

export function createFailureLimit(maxPerMinute: number, nowMs: () => number): FailureLimit {
  let times: number[] = [];
  return {
    count() {
      const now = nowMs();
      times = times.filter((time) => now - time < WINDOW_MS);
      if (times.length >= maxPerMinute) return false;
      times.push(now);
      return true;
    },
  };
}
