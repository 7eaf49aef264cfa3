import { closeSync, constants, fsync, openSync } from "node:fs";
import { promisify } from "node:util";

export const syncFile = promisify(fsync);

/** Makes names in a directory durable. One that may be written but not read cannot be synced, and is left to time. */
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
