import { setTimeout as wait } from "node:timers/promises";

export interface Memory {
  /** Of the whole process with all its threads. */
  readonly residentBytes: number;
  /** The main thread's heap and what it holds outside. */
  readonly heldBytes: number;
}

const COLLECTIONS = 3;

/** What is left after garbage was collected. */
export async function measureMemory(): Promise<Memory> {
  if (globalThis.gc === undefined) throw new Error("run with --expose-gc");
  for (let count = 0; count < COLLECTIONS; count++) {
    globalThis.gc();
    // Finalisers and the allocator's own house-keeping run between turns of the event loop.
    await wait(10);
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return { residentBytes: rss, heldBytes: heapUsed + external };
}

export const MB = 1024 * 1024;
