import { mkdirSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
/** Ignored by git, gone with the installed packages. */
export const CACHE = join(REPOSITORY, "node_modules", ".cache", "narthex-bench");

/** By the magic numbers of statfs(2). */
const FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0xef53, "ext4"],
  [0x58465342, "xfs"],
  [0x9123683e, "btrfs"],
  [0x01021994, "tmpfs"],
  [0x858458f6, "ramfs"],
  [0x794c7630, "overlayfs"],
]);
const IN_MEMORY = new Set(["tmpfs", "ramfs"]);

export function fileSystemOf(directory: string): string {
  const { type } = statfsSync(directory);
  return FILE_SYSTEMS.get(type) ?? `0x${type.toString(16)}`;
}

/** Durable means on a disk: a temporary folder in memory would make every fsync free. */
export function chooseScratch(wanted: string | undefined): string {
  const scratch = wanted ?? (IN_MEMORY.has(fileSystemOf(tmpdir())) ? join(CACHE, "scratch") : tmpdir());
  mkdirSync(scratch, { recursive: true });
  return scratch;
}
