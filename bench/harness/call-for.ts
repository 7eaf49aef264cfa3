import { percentile } from "./statistics.ts";

export interface Load {
  readonly milliseconds: number;
  readonly inFlight: number;
  /** Rejects unless the answer is what it must be. */
  call(n: number): Promise<void>;
}

export interface LoadResult {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Keeps so many calls in flight for so long. */
export async function callFor({ milliseconds, inFlight, call }: Load): Promise<LoadResult> {
  const latencies: number[] = [];
  const startedMs = performance.now();
  const endMs = startedMs + milliseconds;
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let nowMs = performance.now(); nowMs < endMs; ) {
      await call(next++);
      const doneMs = performance.now();
      latencies.push(doneMs - nowMs);
      nowMs = doneMs;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return {
    perSecond: (latencies.length * 1000) / (performance.now() - startedMs),
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
  };
}
