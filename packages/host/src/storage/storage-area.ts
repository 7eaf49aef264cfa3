import type { ExceededBound } from "@narthex/kernel";
import type { DiskSpace } from "./disk-space.ts";

export interface AreaOptions {
  readonly limit: "workspace" | "scratch" | "home";
  readonly path: string;
  /** The same, inside a sandbox. */
  readonly target: string;
  readonly maxBytes: number;
  /** What it holds as far as that is known; undefined where it was never measured. */
  readonly knownBytes: number | undefined;
  /** Counts what it holds; infinitely much if that cannot be found out. */
  measure(): Promise<number>;
}

/** A measurement may take so much of the time. */
const PAUSE_TIMES = 5;

/**
 * A directory that programs fill, and how much it may hold. Free space of its disk says when it could be too much, which
 * costs nothing; only then is it measured. So files of others on the same disk end no program.
 */
export class StorageArea {
  readonly #options: AreaOptions;
  readonly #space: DiskSpace;
  #knownBytes: number;
  /** When that was known; later, the most that was free since. */
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

  /** From now on only what comes counts. */
  restart(): void {
    this.#knownBytes = 0;
    this.#freeBytes = undefined;
    this.#measureAfterMs = 0;
  }

  /** The bound that is exceeded now, if it is. `unnamedBytes` counts files of the programs that have no name any more. */
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
