import { closeSync, constants, fsync, openSync } from "node:fs";
import { promisify } from "node:util";

export const syncFile = promisify(fsync);

/**
 * Makes names in a directory durable. A directory that is writable but not readable cannot be synced, so it becomes
 * durable only eventually.
 */
export async function syncDirectory(directory: number): Promise<void> {
  let opened: number;
  try {
    opened = openSync(`/proc/self/fd/${directory}`, constants.O_RDONLY | constants.O_DIRECTORY);
  } catch {
    return;
  }
  try {
    await syncFile(opened);
  } finally {
    closeSync(opened);
  }
}
