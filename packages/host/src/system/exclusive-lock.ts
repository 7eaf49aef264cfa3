import { DatabaseSync } from "node:sqlite";

/**
 * Takes SQLite's lock on a file, held until the database is closed; undefined if another process holds it. The system
 * releases it when the process ends, however it ends.
 */
export function tryExclusiveLock(path: string): DatabaseSync | undefined {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    return database;
  } catch (fault) {
    database.close();
    if (fault instanceof Error && /locked|busy/i.test(fault.message)) return undefined;
    throw fault;
  }
}
