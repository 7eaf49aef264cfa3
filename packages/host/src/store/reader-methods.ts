import { rmSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { createTreeMethods } from "../merkle/tree-methods.ts";
import type { ReaderData, ReaderMethods } from "./reader-messages.ts";
import { RecordIndex } from "./record-index.ts";
import { RecordReader } from "./record-reader.ts";
import { truncateWal, isDamage, openIndex, openRecordsForReading, recordsMissing, storePaths } from "./store-files.ts";

/** Number of records indexed before other queries get a turn. */
const SLICE_RECORDS = 256;
const FLUSH_RECORDS = 4096;

/** Handles queries and maintains the index, without ever blocking the writer. */
export function createReaderMethods({ directory, logDirectory }: ReaderData): ReaderMethods {
  let files: { records: DatabaseSync; indexFile: DatabaseSync; index: RecordIndex; reader: RecordReader } | undefined;

  function opened(): NonNullable<typeof files> {
    if (files === undefined) throw new TypeError("the store is not open");
    return files;
  }

  /** Returns the files after indexing everything that is committed by now. */
  function indexed(): NonNullable<typeof files> {
    const current = opened();
    while (current.index.catchUp(FLUSH_RECORDS) > 0) {
      if (current.index.pendingRecords >= FLUSH_RECORDS) current.index.flush();
    }
    return current;
  }

  return {
    open() {
      const records = openRecordsForReading(directory);
      const { indexFile, index } = openFittingIndex(directory, records);
      files = { records, indexFile, index, reader: new RecordReader(records, index) };
    },
    head: () => opened().reader.head(),
    chainHead: (chain) => indexed().reader.chainHead(chain),
    readRecord: (index) => opened().reader.readRecord(index),
    findNewest: (from, limit, chain) =>
      (chain === undefined ? opened() : indexed()).reader.findNewest(from, limit, chain),
    readPage: (from, limit, chain) => (chain === undefined ? opened() : indexed()).reader.readPage(from, limit, chain),
    findRequest: (chain, requestId) => indexed().index.findRequest(chain, requestId),
    requestPage: (chain, from) => indexed().reader.requestPage(chain, from),
    findContent: (digest, chain) => indexed().index.findContent(digest, chain),
    findReferences: (digest) => indexed().index.findReferences(digest),
    findMentions: (needles, from) => opened().reader.findMentions(needles, from),
    getState: (table, key) => opened().reader.getState(table, key),
    statePage: (table, prefix, from, limit) => opened().reader.statePage(table, prefix, from, limit),

    async advanceIndex({ flush }) {
      const { index } = opened();
      while (index.catchUp(SLICE_RECORDS) > 0) {
        if (index.pendingRecords >= FLUSH_RECORDS) index.flush();
        await setImmediate();
      }
      if (flush) index.flush();
    },

    moveLog: () => checkpoint(opened().records),
    ...createTreeMethods(logDirectory, () => opened().records),

    async forgetErased(digests) {
      const chains = indexed().index.dropErased(digests);
      const wanted = new Set(digests.map((digest) => Buffer.from(digest).toString("latin1")));
      for (const chain of chains) {
        for (let from: number | undefined = 0; from !== undefined; ) {
          from = indexed().index.rescanChain(chain, from, SLICE_RECORDS, wanted);
          await setImmediate();
        }
      }
    },

    scrubIndex({ rewrite }) {
      const { index, indexFile } = indexed();
      index.flush();
      if (rewrite) indexFile.exec("VACUUM");
      if (!truncateWal(indexFile)) throw new Error("the index's log is in use");
    },

    close() {
      const { records, indexFile, index } = indexed();
      index.flush();
      files = undefined;
      indexFile.close();
      records.close();
    },
  };
}

/**
 * The index is derived data: it is rebuilt if it is damaged, from another version, or does not belong to these records.
 */
function openFittingIndex(directory: string, records: DatabaseSync): { indexFile: DatabaseSync; index: RecordIndex } {
  const found = tryIndex(directory, records);
  const missing = found?.index.missingAfter;
  if (missing !== undefined) {
    found?.indexFile.close();
    throw recordsMissing(directory, missing.indexed, missing.found);
  }
  if (found?.index.matchesRecords() === true) return found;
  found?.indexFile.close();
  const path = storePaths(directory).index;
  for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
  const indexFile = openIndex(directory);
  return { indexFile, index: new RecordIndex(records, indexFile) };
}

function tryIndex(
  directory: string,
  records: DatabaseSync,
): { indexFile: DatabaseSync; index: RecordIndex } | undefined {
  let indexFile: DatabaseSync | undefined;
  try {
    indexFile = openIndex(directory);
    return { indexFile, index: new RecordIndex(records, indexFile) };
  } catch {
    // Not reported: the caller creates a new index.
    indexFile?.close();
    return undefined;
  }
}

function checkpoint(records: DatabaseSync): number {
  const answer = records.prepare("PRAGMA wal_checkpoint(PASSIVE)").get();
  const frames = Number(answer?.["log"] ?? 0);
  const pageSize = Number(records.prepare("PRAGMA page_size").get()?.["page_size"] ?? 0);
  return Math.max(0, frames) * pageSize;
}

/** The error does not tell which file is damaged, so the advice begins with the one that can be rebuilt. */
export function describeProblem(directory: string, error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  if (!isDamage(error)) return reason;
  return `a file in \`${directory}\` is damaged (${reason}): remove \`index.db\`, which is made again; else put back a backup`;
}
