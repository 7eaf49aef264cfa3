import { statfs } from "node:fs/promises";
import { KernelError } from "@narthex/contracts";
import type { StorageLimits } from "./storage-limits.ts";

/** The disk that contains a path. */
export interface DiskFacts {
  readonly freeBytes: number;
  /** Bytes that must stay free. */
  readonly reserveBytes: number;
}

/** Calls and watches query more often than a disk can fill up. */
const FRESH_MS = 200;
const MAX_KNOWN = 1000;
const MB = 1024 * 1024;

/** Free space of disks, cached for a moment. */
export class DiskSpace {
  readonly #limits: Pick<StorageLimits, "reserveBytes" | "reservePercent">;
  readonly #known = new Map<string, { readonly atMs: number; readonly facts: Promise<DiskFacts | undefined> }>();

  constructor(limits: Pick<StorageLimits, "reserveBytes" | "reservePercent">) {
    this.#limits = limits;
  }

  /** Returns undefined if the path does not exist or its file system does not report its size. */
  measure(path: string): Promise<DiskFacts | undefined> {
    const nowMs = performance.now();
    const known = this.#known.get(path);
    if (known !== undefined && nowMs - known.atMs < FRESH_MS) return known.facts;
    const facts = this.#ask(path);
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(path, { atMs: nowMs, facts });
    return facts;
  }

  /** Throws RESOURCE_EXCEEDED if one of these disks has less than its reserve left: the reserve is for the ledger. */
  async requireReserve(paths: readonly string[]): Promise<void> {
    const found = await Promise.all(paths.map((path) => this.measure(path)));
    for (const [index, disk] of found.entries()) {
      if (disk === undefined || disk.freeBytes >= disk.reserveBytes) continue;
      throw new KernelError(
        "RESOURCE_EXCEEDED",
        `disk: \`${paths[index]}\` has ${Math.floor(disk.freeBytes / MB)} MB free, and ${Math.ceil(disk.reserveBytes / MB)} MB ` +
          "must stay free (`storage.reserve_bytes`, `storage.reserve_percent`): free some space",
      );
    }
  }

  async #ask(path: string): Promise<DiskFacts | undefined> {
    const { reserveBytes, reservePercent } = this.#limits;
    try {
      const { bsize, blocks, bavail } = await statfs(path);
      // Some file systems, such as /proc, have no size.
      if (blocks === 0) return undefined;
      const share = Math.floor((blocks * bsize * reservePercent) / 100);
      return { freeBytes: bavail * bsize, reserveBytes: Math.min(reserveBytes, share) };
    } catch {
      return undefined;
    }
  }
}
