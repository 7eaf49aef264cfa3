import { constants } from "node:fs";
import { open } from "node:fs/promises";

/** Makes the names that were added to a directory, or removed from it, durable. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
