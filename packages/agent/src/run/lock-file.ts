import { lstat, open } from "node:fs/promises";
import { KernelError } from "@narthex/contracts";

const OWNER_ONLY = 0o600;

/**
 * Locks a file with a lock file beside it, against other processes and within this process; undefined if it is already
 * locked. Uses SQLite's own file lock: the system releases it when the process ends, however it ends. An empty file
 * remains.
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

/**
 * SECURITY: the lock file is not created through a link, and other users cannot lock it. An existing file is not
 * opened, because closing it would release this process's lock on it.
 */
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
