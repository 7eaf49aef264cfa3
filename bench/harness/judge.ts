import type { Row } from "./measurement.ts";

export interface Verdict {
  readonly met: boolean;
  /** What was reached, in bars: 1 is just met, 2 twice as good as asked, 0.5 half. */
  readonly bars: number;
}

/** Holds a row against its bar; undefined without one. */
export function judge({ ours, ratio, bar }: Row): Verdict | undefined {
  if (bar === undefined) return undefined;
  const reached = bar.of === "ours" ? ours.value : (ratio ?? Number.NaN);
  const bars = bar.limit === "at least" ? reached / bar.value : bar.value / reached;
  // What is at most may have shrunk to nothing or below: nothing is wrong with that.
  if (bar.limit === "at most" && reached <= 0) return { met: true, bars: Number.POSITIVE_INFINITY };
  return { met: bars >= 1, bars };
}
