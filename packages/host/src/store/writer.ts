import type { DatabaseSync, StatementSync } from "node:sqlite";
import { createEraser } from "./eraser.ts";
import { tableNumber, visitGroup } from "./packed-group.ts";
import { truncateWal, openRecordsForWriting } from "./store-files.ts";
import type { WriterResponse, WriterCommand } from "./writer-messages.ts";

/** Receives every response; memory in `transfer` may be transferred. */
export type WriterResponseHandler = (answer: WriterResponse, transfer?: ArrayBuffer[]) => void;

/** Executes commands in order. Returns false when the writer has ended. */
export type Writer = (command: WriterCommand) => boolean;

const NOTHING = new Uint8Array(0);

/**
 * Opens the only writer of records and state. Returns undefined if they cannot be opened; the response gives the
 * reason.
 */
export function openWriter(directory: string, answer: WriterResponseHandler): Writer | undefined {
  try {
    const database = openRecordsForWriting(directory);
    answer({ kind: "opened", ...readEnd(database) });
    const commit = createCommit(database);
    return (command) => obey(command, database, commit, answer);
  } catch (error) {
    answer({ kind: "failed", reason: describe(error) });
    return undefined;
  }
}

function obey(
  command: WriterCommand,
  database: DatabaseSync,
  commit: (command: CommitCommand) => void,
  answer: WriterResponseHandler,
): boolean {
  try {
    if (command.kind === "commit") {
      commit(command);
      answer({ kind: "committed", memory: command.memory }, [command.memory]);
      return true;
    }
    if (command.kind === "restart") {
      database.exec("PRAGMA wal_checkpoint(RESTART)");
      answer({ kind: "restarted" });
      return true;
    }
    if (command.kind === "scrub") {
      answer({ kind: "scrubbed", problem: scrub(command, database) });
      return true;
    }
    database.close();
    answer({ kind: "closed" });
    return false;
  } catch (error) {
    // INVARIANT: after a failed commit the state on disk is unknown, so nothing is retried. Closing leaves the WAL
    // alone as long as the reader has the file open.
    answer({ kind: "failed", reason: describe(error) });
    if (database.isOpen) database.close();
    return false;
  }
}

/** Returns why scrubbing failed, or an empty text; committed data stays intact in any case. */
function scrub({ digests, rewrite }: Extract<WriterCommand, { kind: "scrub" }>, database: DatabaseSync): string {
  const remove = database.prepare("DELETE FROM state WHERE name = ? AND key = ?");
  database.exec("BEGIN IMMEDIATE");
  for (const digest of digests) remove.run(tableNumber("erasing"), digest);
  database.exec("COMMIT");
  if (rewrite) database.exec("VACUUM");
  return truncateWal(database) ? "" : "its log is in use";
}

type CommitCommand = Extract<WriterCommand, { kind: "commit" }>;

function createCommit(database: DatabaseSync): (command: CommitCommand) => void {
  const begin = database.prepare("BEGIN IMMEDIATE");
  const end = database.prepare("COMMIT");
  const insert = database.prepare("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?)");
  const state = createStateWriter(database);
  const eraser = createEraser(database, state.note);
  const visitor = {
    record: insert.run.bind(insert),
    state: state.note,
    erase: eraser.note,
  };
  return ({ memory, byteLength }) => {
    begin.run();
    visitGroup(memory, byteLength, visitor);
    eraser.flush();
    state.flush();
    end.run();
  };
}

/** Writes only the last change of each key within a group. */
function createStateWriter(database: DatabaseSync): {
  note(table: number, key: string, value: Uint8Array | undefined): void;
  flush(): void;
} {
  const replace: StatementSync = database.prepare("INSERT OR REPLACE INTO state VALUES (?, ?, ?)");
  const remove: StatementSync = database.prepare("DELETE FROM state WHERE name = ? AND key = ?");
  const changes = new Map<string, { readonly table: number; readonly key: string; value: Uint8Array | undefined }>();
  return {
    note(table, key, value) {
      const name = `${table} ${key}`;
      const known = changes.get(name);
      if (known === undefined) changes.set(name, { table, key, value });
      else known.value = value;
    },
    flush() {
      if (changes.size === 0) return;
      for (const { table, key, value } of changes.values()) {
        if (value === undefined) remove.run(table, key);
        else replace.run(table, key, value);
      }
      changes.clear();
    },
  };
}

function readEnd(database: DatabaseSync): Omit<Extract<WriterResponse, { kind: "opened" }>, "kind"> {
  const row = database.prepare("SELECT idx, hash, record FROM records ORDER BY idx DESC LIMIT 1").get();
  if (row === undefined) return { nextIndex: 0, last: undefined };
  const { idx, hash, record } = row;
  const sound = hash instanceof Uint8Array && record instanceof Uint8Array;
  return { nextIndex: Number(idx) + 1, last: sound ? { hash, record } : { hash: NOTHING, record: NOTHING } };
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
