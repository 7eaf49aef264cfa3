import type { ExceededBound } from "@narthex/kernel";
import type { DiskSpace } from "./disk-space.ts";
import type { StorageArea } from "./storage-area.ts";
import { countUnlinkedBytes } from "./unlinked-files.ts";

export interface StorageWatchOptions {
  readonly space: DiskSpace;
  /** Directories that the program can fill. */
  readonly areas: readonly StorageArea[];
  /** Paths on disks that the kernel itself needs. */
  readonly paths: readonly string[];
  /** Host pid of its first process. */
  readonly pid: Promise<number>;
  onExceeded(bound: ExceededBound): void;
}

export interface StorageWatch {
  stop(): void;
}

const WATCH_MS = 250;
/** Minimum loss of free space: a disk filled by others does not end a program that writes next to nothing. */
const NOTABLE_BYTES = 64 * 1024 * 1024;

/**
 * Checks the disk usage of a program four times a second: Linux has no mechanism on all file systems that would stop it
 * at the exact byte. So a limit can be exceeded by the amount written in between.
 *
 * A program is also ended when a disk falls below its reserve while it runs and has lost a notable amount since it
 * started, even if other programs wrote it: the reserve is for the ledger.
 */
export function watchStorage({ space, areas, paths, pid, onExceeded }: StorageWatchOptions): StorageWatch {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  const freeAtStart = new Map<string, number>();
  const disks = [...new Set([...areas.map((area) => area.path), ...paths])];

  async function findLow(): Promise<ExceededBound | undefined> {
    for (const path of disks) {
      const disk = await space.measure(path);
      if (disk === undefined) continue;
      const before = freeAtStart.get(path);
      if (before === undefined) freeAtStart.set(path, disk.freeBytes);
      else if (disk.freeBytes < disk.reserveBytes && before - disk.freeBytes >= NOTABLE_BYTES) {
        return { limit: "disk", allowed: disk.reserveBytes, peak: disk.freeBytes };
      }
    }
    return undefined;
  }

  async function look(): Promise<ExceededBound | undefined> {
    const low = await findLow();
    if (low !== undefined) return low;
    for (const area of areas) {
      const found = await area.findExceeded(async () => countUnlinkedBytes(await pid, area.target));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  function lookSoon(): void {
    if (isStopped) return;
    timer = setTimeout(() => {
      look()
        .then((bound) => {
          if (bound === undefined || isStopped) lookSoon();
          else onExceeded(bound);
        })
        .catch(lookSoon);
    }, WATCH_MS).unref();
  }

  // Records the free space at the start of the program.
  void findLow().catch(() => undefined);
  lookSoon();
  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
