import { lstat, open } from "node:fs/promises";
import { KernelError } from "@narthex/contracts";

const OWNER_ONLY = 0o600;

/**
 * Locks a file by another one beside it, for this process and against this process alike; undefined if it is locked. The
 * lock is SQLite's own: the system lets go of it when the process ends, however it ends. What is left is an empty file.
 */
export async function lockFile(path: string): Promise<(() => void) | undefined> {
  const lock = `${path}.lock`;
  await makeEmpty(lock);
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(lock, { timeout: 0 });
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  } catch (fault) {
    database.close();
    if (fault instanceof Error && /locked|busy/i.test(fault.message)) return undefined;
    throw new KernelError("INVALID_INPUT", `\`${lock.slice(0, 300)}\` cannot be locked`, { cause: fault });
  }
  return () => {
    if (database.isOpen) database.close();
  };
}

/** SECURITY: it is not made through a link, and others cannot lock it. One that is there is not opened: to close it unlocks it. */
async function makeEmpty(path: string): Promise<void> {
  try {
    const file = await open(path, "wx", OWNER_ONLY);
    await file.close();
  } catch (cause) {
    const facts = await lstat(path).catch(() => undefined);
    if (facts?.isFile() === true) return;
    throw new KernelError("INVALID_INPUT", `\`${path.slice(0, 300)}\` cannot be made`, { cause });
  }
}
