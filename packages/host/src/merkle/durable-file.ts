import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { syncDirectory } from "../system/sync-directory.ts";

/**
 * Puts a file in its place, whole and durable, with its owner's rights only; whoever reads meanwhile sees the old one.
 * For whoever holds the home: the draft has a name of its own, which the next one takes over.
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
