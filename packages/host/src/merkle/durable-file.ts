import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { syncDirectory } from "../system/sync-directory.ts";

/**
 * Replaces a file atomically and durably, readable by its owner only; concurrent readers see the old content. Only the
 * holder of the home may call it: the draft has a fixed name, which the next write reuses.
 */
export async function writeDurableFile(path: string, text: string, draft: string): Promise<void> {
  await rm(draft, { force: true });
  const file = await open(draft, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  await syncDirectory(dirname(path));
}
