import type { ExceededBound } from "@narthex/kernel";
import type { DiskSpace } from "./disk-space.ts";

export interface AreaOptions {
  readonly limit: "workspace" | "scratch" | "home";
  readonly path: string;
  /** The same directory inside a sandbox. */
  readonly target: string;
  readonly maxBytes: number;
  /** Size of the content, if known; undefined if it was never measured. */
  readonly knownBytes: number | undefined;
  /** Measures the size of the content; infinity if it cannot be determined. */
  measure(): Promise<number>;
}

/** After a measurement, pauses for this many times its duration. */
const PAUSE_TIMES = 5;

/**
 * A directory that programs fill, with a size limit. It is measured only when the free space of its disk shows that the
 * limit could be exceeded, which is free of cost. So other files on the same disk never end a program.
 */
export class StorageArea {
  readonly #options: AreaOptions;
  readonly #space: DiskSpace;
  #knownBytes: number;
  /** Free space when the size was last known, or the highest free space seen since. */
  #freeBytes: number | undefined;
  #measureAfterMs = 0;

  constructor(options: AreaOptions, space: DiskSpace) {
    this.#options = options;
    this.#space = space;
    this.#knownBytes = options.knownBytes ?? Number.POSITIVE_INFINITY;
  }

  get path(): string {
    return this.#options.path;
  }

  get target(): string {
    return this.#options.target;
  }

  /** Counts only content that is added from now on. */
  restart(): void {
    this.#knownBytes = 0;
    this.#freeBytes = undefined;
    this.#measureAfterMs = 0;
  }

  /**
   * Returns the limit that is exceeded now, if any. `unnamedBytes` counts deleted files that programs still hold open.
   */
  async findExceeded(unnamedBytes: () => Promise<number> = nothing): Promise<ExceededBound | undefined> {
    const { limit, path, maxBytes, measure } = this.#options;
    const disk = await this.#space.measure(path);
    if (disk === undefined) return undefined;
    this.#freeBytes = Math.max(this.#freeBytes ?? 0, disk.freeBytes);
    const estimate = this.#knownBytes + this.#freeBytes - disk.freeBytes;
    const startedMs = performance.now();
    if (estimate <= maxBytes || startedMs < this.#measureAfterMs) return undefined;
    const measured = (await measure()) + (await unnamedBytes());
    this.#knownBytes = measured;
    this.#freeBytes = disk.freeBytes;
    if (measured > maxBytes) {
      const peak = Number.isFinite(measured) ? measured : estimate;
      return { limit, allowed: maxBytes, peak: Math.min(peak, Number.MAX_SAFE_INTEGER) };
    }
    const endedMs = performance.now();
    this.#measureAfterMs = endedMs + PAUSE_TIMES * (endedMs - startedMs);
    return undefined;
  }
}

const nothing = (): Promise<number> => Promise.resolve(0);
