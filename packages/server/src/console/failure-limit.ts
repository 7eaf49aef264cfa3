/**
 * Counts wrong codes.
 *
 * SECURITY: a code of 256 bits is not guessed, however often one tries; the limit keeps a flood of tries from costing
 * anything. A right code passes all the same, so that nobody on this machine can lock the others out.
 */
export interface FailureLimit {
  /** False if there were too many within a minute. */
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
