import { chmodSync, closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { findLostWal } from "./find-lost-wal.ts";

/** Runs in the store's own threads, where waiting for the disk blocks nothing else: hence the synchronous calls. */

/** Shown to callers unchanged: one line, with what to do. */
class StoreFileError extends Error {
  override readonly name = "StoreFileError";
}

/** ASCII "NTXS": a file with another number was not created by this store. */
const STORE_APPLICATION_ID = 0x4e545853;
/** ASCII "NTXI". */
const INDEX_APPLICATION_ID = 0x4e545849;
const STORE_SCHEMA_VERSION = 1;
const INDEX_SCHEMA_VERSION = 1;

const STORE_SCHEMA = `
  CREATE TABLE records (
    idx INTEGER PRIMARY KEY,
    chain TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    hash BLOB NOT NULL,
    record BLOB NOT NULL,
    content BLOB NOT NULL
  ) STRICT;
  CREATE TABLE state (
    name INTEGER NOT NULL,
    key TEXT NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (name, key)
  ) STRICT, WITHOUT ROWID;
`;

const INDEX_SCHEMA = `
  CREATE TABLE mark (only INTEGER PRIMARY KEY CHECK (only = 1), next INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;
  CREATE TABLE chains (id INTEGER PRIMARY KEY, chain TEXT NOT NULL UNIQUE) STRICT;
  CREATE TABLE places (chain INTEGER NOT NULL, idx INTEGER NOT NULL, PRIMARY KEY (chain, idx)) STRICT, WITHOUT ROWID;
  CREATE TABLE requests (
    chain INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    last INTEGER NOT NULL,
    PRIMARY KEY (chain, request_id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE holdings (
    digest BLOB NOT NULL,
    chain INTEGER NOT NULL,
    role INTEGER NOT NULL,
    idx INTEGER NOT NULL,
    item INTEGER NOT NULL,
    place INTEGER NOT NULL,
    size INTEGER NOT NULL,
    PRIMARY KEY (digest, chain, role)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE labels (
    digest BLOB NOT NULL,
    chain INTEGER NOT NULL,
    label TEXT NOT NULL,
    PRIMARY KEY (digest, chain, label)
  ) STRICT, WITHOUT ROWID;
`;

export interface StorePaths {
  readonly records: string;
  readonly index: string;
}

export function storePaths(directory: string): StorePaths {
  return { records: join(directory, "records.db"), index: join(directory, "index.db") };
}

/** Opens the file of records and state for its only writer; creates it the first time. */
export function openRecordsForWriting(directory: string): DatabaseSync {
  makeDirectory(directory);
  const path = storePaths(directory).records;
  refuseLoss(directory);
  return openEmptied(path, {
    applicationId: STORE_APPLICATION_ID,
    version: STORE_SCHEMA_VERSION,
    schema: STORE_SCHEMA,
    // Checkpoints run elsewhere, off the commit path. The WAL is overwritten from its start and never shrunk: making an
    // overwrite durable takes little more than half the time of an append.
    pragmas:
      "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA secure_delete = ON;",
  });
}

/** INVARIANT: lost records are never replaced by an empty ledger, nor continued after a gap that would go unnoticed. */
function refuseLoss(directory: string): void {
  const { records, index } = storePaths(directory);
  if (sizeOf(records) === 0 && (sizeOf(index) > 0 || sizeOf(`${records}-wal`) > 0)) {
    throw new StoreFileError(`\`${records}\` is missing or empty, and was not; put back a backup`);
  }
  const lost = withFileErrors(records, () => findLostWal(records));
  if (lost !== undefined) {
    throw new StoreFileError(
      `\`${records}\` has lost records: ${lost}; put back a backup, or remove \`${records}-shm\` to go on without them`,
    );
  }
}

/** Error: the index was built from records that no longer exist. */
export function recordsMissing(directory: string, indexed: number, found: number): Error {
  const { records, index } = storePaths(directory);
  return new StoreFileError(
    `\`${records}\` has lost records: ${indexed} were counted, ${found} are there; put back a backup, or remove \`${index}\` to go on without them`,
  );
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Opens the same file for the reading thread, which never changes data but checkpoints the WAL. */
export function openRecordsForReading(directory: string): DatabaseSync {
  const path = storePaths(directory).records;
  return withFileErrors(path, () => {
    const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    database.exec("PRAGMA query_only = ON; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;");
    return database;
  });
}

/** Opens the index. It is derived data: a power cut may lose its newest part, but never its consistency. */
export function openIndex(directory: string): DatabaseSync {
  return openEmptied(storePaths(directory).index, {
    applicationId: INDEX_APPLICATION_ID,
    version: INDEX_SCHEMA_VERSION,
    schema: INDEX_SCHEMA,
    pragmas:
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -32768; PRAGMA wal_autocheckpoint = 8192; PRAGMA secure_delete = ON;",
  });
}

/** Longer than the other thread ever holds a lock; no one else in this process takes one. */
const BUSY_TIMEOUT_MS = 10_000;

interface FileKind {
  readonly applicationId: number;
  readonly version: number;
  readonly schema: string;
  readonly pragmas: string;
}

/** The WAL left by a crash may contain data that was erased since: it is checkpointed and emptied. */
function openEmptied(path: string, kind: FileKind): DatabaseSync {
  const isLeft = sizeOf(`${path}-wal`) > 0;
  const database = openFile(path, kind);
  if (isLeft) withFileErrors(path, () => truncateWal(database));
  return database;
}

/** Checkpoints the whole WAL and truncates it. Returns false if a reader uses it for too long. */
export function truncateWal(database: DatabaseSync): boolean {
  return Number(database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()?.["busy"] ?? 1) === 0;
}

function openFile(path: string, kind: FileKind): DatabaseSync {
  return withFileErrors(path, () => {
    makePrivateFile(path);
    const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    try {
      database.exec(kind.pragmas);
      const applicationId = readPragma(database, "application_id");
      const version = readPragma(database, "user_version");
      if (applicationId === 0 && version === 0 && readPragma(database, "schema_version") === 0) {
        database.exec(`BEGIN IMMEDIATE; ${kind.schema}
          PRAGMA application_id = ${kind.applicationId}; PRAGMA user_version = ${kind.version}; COMMIT;`);
      } else if (applicationId !== kind.applicationId) {
        throw new StoreFileError(`\`${path}\` is not a narthex store: move it away or name another home`);
      } else if (version > kind.version) {
        throw new StoreFileError(
          `\`${path}\` has schema version ${version} and this narthex knows up to ${kind.version}: use a newer narthex`,
        );
      }
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  });
}

function makeDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  chmodSync(directory, 0o700);
}

/**
 * Creates the file private: SQLite would make it readable for others, and creates its WAL with the mode of the file.
 *
 * INVARIANT: an existing file is not opened here: closing any descriptor of a file releases the locks that SQLite holds
 * on it elsewhere in this process.
 */
function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    chmodSync(path, 0o600);
  }
}

function readPragma(database: DatabaseSync, name: string): number {
  const value = database.prepare(`PRAGMA ${name}`).get()?.[name];
  return typeof value === "number" ? value : 0;
}

function withFileErrors<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (error instanceof StoreFileError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const advice = isDamage(error) ? "; move it away and put back a backup" : "";
    throw new StoreFileError(`\`${path}\`: ${reason}${advice}`, { cause: error });
  }
}

/** SQLITE_CORRUPT or SQLITE_NOTADB: the low byte of an extended error code. */
export function isDamage(error: unknown): boolean {
  if (!(error instanceof Error && "errcode" in error)) return false;
  const code = Number(error.errcode) & 0xff;
  return code === 11 || code === 26;
}
