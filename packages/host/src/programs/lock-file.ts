import { rmSync } from "node:fs";
import { join } from "node:path";
import { tryExclusiveLock } from "../system/exclusive-lock.ts";

/** A lock that this process holds. */
export interface LockFile {
  release(): void;
}

const MUTEX_NAME = "gate";

/**
 * Takes a lock of a private directory; undefined while another process has it. The lock is on an empty file.
 *
 * INVARIANT: files are opened, locked and removed only behind the directory's gate, which is held for the moment that
 * takes: no process can wait for a file that another one has removed.
 */
export function takeLockFile(directory: string, name: string): LockFile | undefined {
  const path = join(directory, name);
  const database = withMutex(directory, () => tryExclusiveLock(path));
  if (database === undefined) return undefined;
  return {
    release() {
      try {
        // A file that stays, because another process is behind the gate, is used again in the same workspace.
        withMutex(directory, () => rmSync(path, { force: true }));
      } finally {
        database.close();
      }
    },
  };
}

/** Undefined if another process is behind the gate, or the work gave nothing. */
function withMutex<T>(directory: string, work: () => T): T | undefined {
  const gate = tryExclusiveLock(join(directory, MUTEX_NAME));
  if (gate === undefined) return undefined;
  try {
    return work();
  } finally {
    gate.close();
  }
}
