/** `NARTHEX_TEST_WHOLE=1 npm test` leaves nothing out. */
export const RUNS_ALL = process.env["NARTHEX_TEST_WHOLE"] === "1";

/** So many of the cases, spread evenly, always the same ones: for cases that are alike and each start processes. */
export function sampled<T>(cases: readonly T[], count: number): readonly T[] {
  if (RUNS_ALL || cases.length <= count) return cases;
  const place = (index: number): number => Math.floor((index * count) / cases.length);
  return cases.filter((_, index) => place(index) !== place(index + 1));
}

/** How often a property is tried: half as often, unless nothing is left out. */
export function runsOf(count: number): number {
  return RUNS_ALL ? count : Math.ceil(count / 2);
}
