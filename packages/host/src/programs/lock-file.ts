import { rmSync } from "node:fs";
import { join } from "node:path";
import { tryExclusiveLock } from "../system/exclusive-lock.ts";

/** A lock held by this process. */
export interface LockFile {
  release(): void;
}

const MUTEX_NAME = "gate";

/**
 * Takes a lock in a private directory, as a lock on an empty file; undefined if another process holds it.
 *
 * INVARIANT: lock files are opened, locked and removed only while holding the directory's mutex, which is held very
 * briefly: no process can wait on a file that another one has removed.
 */
export function takeLockFile(directory: string, name: string): LockFile | undefined {
  const path = join(directory, name);
  const database = withMutex(directory, () => tryExclusiveLock(path));
  if (database === undefined) return undefined;
  return {
    release() {
      try {
        // If another process holds the mutex, the file stays and is reused for the same workspace.
        withMutex(directory, () => rmSync(path, { force: true }));
      } finally {
        database.close();
      }
    },
  };
}

/** Returns undefined if another process holds the mutex, or if the work returned undefined. */
function withMutex<T>(directory: string, work: () => T): T | undefined {
  const gate = tryExclusiveLock(join(directory, MUTEX_NAME));
  if (gate === undefined) return undefined;
  try {
    return work();
  } finally {
    gate.close();
  }
}
