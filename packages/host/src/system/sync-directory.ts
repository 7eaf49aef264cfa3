import { constants } from "node:fs";
import { open } from "node:fs/promises";

/** Makes names that were added to or removed from a directory durable. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
