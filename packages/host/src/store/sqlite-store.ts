import { dirname, join } from "node:path";
import { equalBytes, hashRecord, KernelError } from "@narthex/contracts";
import type { LedgerStore, StateRow, StoredRecord } from "@narthex/kernel";
import { createMerkleTree } from "../merkle/merkle-tree.ts";
import { copyRecords, copyRecordsInThread } from "./copy-records.ts";
import { GroupCommit, type OpenedStore } from "./group-commit.ts";
import { createLocalReader } from "./local-reader.ts";
import { Maintenance } from "./maintenance.ts";
import { tableNumber } from "./packed-group.ts";
import type { Reader } from "./reader.ts";
import { createScrubber, type Scrubber } from "./scrubber.ts";
import { startLocalWriter, startWriterThread } from "./start-writer.ts";
import { ThreadReader } from "./thread-reader.ts";

export interface SqliteStoreOptions {
  /** Created, private to its owner, if it is missing. */
  readonly directory: string;
  /** Directory of the Merkle tree over the records; `log` next to the directory by default. */
  readonly logDirectory?: string;
  /** For short-lived programs: everything runs in the calling thread. */
  readonly isSingleThreaded?: boolean;
}

const MAX_GATHERED_BYTES = 64 * 1024 * 1024;

/**
 * Opens the store in a directory: `records.db` holds records and state and is written by one thread; `index.db` is
 * derived from it and maintained by another, which also handles queries. With `isSingleThreaded`, both run in the
 * calling thread.
 *
 * INVARIANT: one store per directory. The home's lock ensures it; if that fails, the second writer of an index breaks
 * its store instead of forking the ledger.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<LedgerStore> {
  const { directory, logDirectory = join(dirname(directory), "log"), isSingleThreaded = false } = options;
  const startWriter = isSingleThreaded ? startLocalWriter : startWriterThread;
  const commit = new GroupCommit({ directory, maxGatheredBytes: MAX_GATHERED_BYTES, startWriter });
  const data = { directory, logDirectory };
  const reader = isSingleThreaded ? createLocalReader(data) : new ThreadReader(data, (reason) => commit.break(reason));
  try {
    const opened = await commit.open();
    await reader.ask("open");
    if (!isSound(opened)) commit.break("its last record is damaged: run `narthex ledger verify`");
  } catch (error) {
    await Promise.all([commit.close(), reader.terminate()]);
    throw error;
  }
  const maintenance = new Maintenance(commit, reader);
  const copy = isSingleThreaded ? async (target: string) => copyRecords(directory, target) : copyInThread;
  return {
    ...createStore(commit, reader, maintenance, createScrubber(directory, commit, reader)),
    copyTo: (target) => maintenance.whileCopying(() => copy(target)),
  };

  function copyInThread(target: string): Promise<void> {
    return copyRecordsInThread(directory, target);
  }
}

/** A ledger must not be continued after a last record that was changed. */
function isSound({ last }: OpenedStore): boolean {
  return last === undefined || equalBytes(hashRecord(last.record), last.hash);
}

function createStore(
  commit: GroupCommit,
  reader: Reader,
  maintenance: Maintenance,
  scrubber: Scrubber,
): Omit<LedgerStore, "copyTo"> {
  let closed: Promise<void> | undefined;
  return {
    tree: createMerkleTree(reader),
    append: (write) => commit.append(write),
    head: () => reader.ask("head"),
    chainHead: (chain) => reader.ask("chainHead", chain),
    readRecord: (index) => reader.ask("readRecord", index),
    findContent: (digest, chain) => reader.ask("findContent", digest, chain),
    findRequest: (chain, requestId) => reader.ask("findRequest", chain, requestId),
    findReferences: (digest) => reader.ask("findReferences", digest),
    findMentions: (needles, from) => reader.ask("findMentions", needles, from),
    forgetErased: (digests) => reader.ask("forgetErased", digests),
    endErasing: (digests, scrub) => scrubber.scrub(digests, scrub),
    getState: (table, key) => reader.ask("getState", tableNumber(table), key),

    async readRecords({ from = 0, limit, chain, newest = false }) {
      const start = newest && limit > 0 ? await reader.ask("findNewest", from, limit, chain) : from;
      const records: StoredRecord[] = [];
      let more = limit > 0;
      while (more) {
        const next = records.length === 0 ? start : (records.at(-1)?.index ?? start) + 1;
        const page = await reader.ask("readPage", next, limit - records.length, chain);
        records.push(...page.rows);
        more = page.more && records.length < limit;
      }
      return records;
    },

    async listRequestIds(chain, limit) {
      const ids = new Set<string>();
      let from = 0;
      let due = 0;
      let more = limit > 0;
      while (more) {
        const page = await reader.ask("requestPage", chain, from);
        for (const { index, sequence, requestId } of page.rows) {
          // SECURITY: a request id lost with its record would count as new, and its call would be executed again.
          if (sequence !== due) throw recordsLost(chain, due);
          due++;
          if (ids.size < limit && requestId !== "") ids.add(requestId);
          from = index + 1;
        }
        more = page.more && ids.size < limit;
      }
      return [...ids];
    },

    async listState(table, prefix, limit, after) {
      const found: StateRow[] = [];
      let more = limit > 0;
      while (more) {
        const last = found.at(-1)?.key ?? after;
        // The smallest key after the last one.
        const from = last === undefined ? prefix : `${last}\0`;
        const page = await reader.ask("statePage", tableNumber(table), prefix, from, limit - found.length);
        found.push(...page.rows);
        more = page.more && found.length < limit;
      }
      return found;
    },

    close() {
      closed ??= closeStore(commit, reader, maintenance, scrubber);
      return closed;
    },
  };
}

/** The writer closes last, so that it can checkpoint the WAL completely. */
async function closeStore(
  commit: GroupCommit,
  reader: Reader,
  maintenance: Maintenance,
  scrubber: Scrubber,
): Promise<void> {
  await commit.drain();
  await maintenance.stop();
  await reader.ask("close").catch(() => undefined);
  await commit.close();
  await scrubber.close();
}

function recordsLost(chain: string, sequence: number): KernelError {
  const message = `record ${sequence} of \`${chain}\` is lost: see \`narthex ledger verify\`, and put back a backup`;
  return new KernelError("STORE_UNAVAILABLE", message);
}
