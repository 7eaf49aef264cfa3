import { BatchHasher } from "./hash/batch-hasher.ts";
import { hashPages } from "./hash/hash-pages.ts";
import type { HashedPage, LedgerSource } from "./ledger-source.ts";
import { LedgerWalk } from "./ledger-walk.ts";
import { type Checkpoint, parseCheckpoint } from "./merkle/checkpoint.ts";
import type { VerifierKey } from "./merkle/verifier-key.ts";
import { readPages } from "./read-pages.ts";
import type { SeenTree } from "./merkle/check-tree.ts";
import type { VerifiedState } from "./verified/verified-state.ts";
import type { VerifiedBefore, VerifyReport } from "./verify-report.ts";

export interface VerifyOptions {
  readonly onProgress?: (progress: VerifyProgress) => void;
  /** The key to which the checkpoints must lead. Without it, the keys that the ledger announces are trusted. */
  readonly trustedKey?: VerifierKey | undefined;
  /** Externally kept checkpoints: the ledger must extend each of them. */
  readonly keptCheckpoints?: readonly Checkpoint[];
  /** Skips the Merkle tree: neither roots nor signatures are checked, and nothing is proven. */
  readonly chainsOnly?: boolean;
  /**
   * The `verified` state of an earlier run: only later records are read. Throws a VerifiedFault if the run cannot
   * continue from it.
   */
  readonly before?: Uint8Array | undefined;
  /** Requests `verified` in the report, with this time in it. */
  readonly nowMs?: number | undefined;
  /** Skips content: digests, commitments and proofs of decisions are not checked. */
  readonly recordsOnly?: boolean | undefined;
  /** Aborting rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface VerifyProgress {
  readonly recordsDone: number;
  readonly recordsTotal: number;
}

const PROGRESS_EVERY = 4096;

/**
 * Reads a ledger and its content, from the beginning or from the end of `before`, and reports everything that violates
 * the rules.
 */
export async function walkLedger(
  source: LedgerSource,
  options: VerifyOptions,
  { before, seen }: { readonly before?: VerifiedState; readonly seen?: SeenTree } = {},
): Promise<VerifyReport> {
  // Read before the records, because everything that it covers was durable by then.
  const shown = options.chainsOnly === true ? undefined : await readPublishedCheckpoint(source);
  const { trustedKey, keptCheckpoints: kept = [], signal, nowMs, recordsOnly = false } = options;
  const walk = new LedgerWalk(
    source,
    { trustedKey, keptCheckpoints: kept, publishedCheckpoint: shown, seen, files: source.log },
    { signal, before, recordsOnly },
  );
  if (options.chainsOnly === true) walk.skipTree();
  const total = options.onProgress === undefined ? 0 : await countRecords(source);
  const report = (done: number): void =>
    options.onProgress?.({ recordsDone: done, recordsTotal: Math.max(total, done) });

  const from = before?.records;
  const pages = readHashed(source, from, recordsOnly)[Symbol.asyncIterator]();
  let reported = walk.records;
  try {
    for (;;) {
      signal?.throwIfAborted();
      const page = await nextPage(pages);
      if (page === undefined) break;
      if (page === UNREADABLE) {
        walk.sourceFailed();
        break;
      }
      await takePage(walk, page);
      const settling = walk.settle();
      if (settling !== undefined) await settling;
      if (walk.records - reported >= PROGRESS_EVERY) report((reported = walk.records));
    }
  } finally {
    await closePages(pages);
  }
  const verified = nowMs === undefined ? undefined : await walk.remember(nowMs);
  await walk.finish();
  report(walk.records);
  const left = recordsOnly && { recordsOnly: true };
  return { ...walk.report(), ...left, ...(before && { before: factsOf(before) }), ...remembered(verified, walk) };
}

/** A separate thread saves nothing if only records are hashed. */
function readHashed(source: LedgerSource, from: number | undefined, recordsOnly: boolean): AsyncIterable<HashedPage> {
  if (recordsOnly) return hashPages(readPages(source, from, { content: true }), new BatchHasher({ recordsOnly }));
  return source.hashedPages?.(from) ?? hashPages(readPages(source, from));
}

function factsOf({ records, verifiedTree, verifiedAtMs }: VerifiedState): VerifiedBefore {
  return { records, checkpointSize: verifiedTree.size, checkpointRoot: verifiedTree.root, verifiedAtMs };
}

/** Problems found only at the end count as well. */
function remembered(
  verified: Uint8Array | string | undefined,
  walk: LedgerWalk,
): Pick<VerifyReport, "verified" | "notRemembered"> {
  if (verified === undefined) return {};
  if (!walk.isSound) return { notRemembered: "something is wrong" };
  return typeof verified === "string" ? { notRemembered: verified } : { verified };
}

async function takePage(walk: LedgerWalk, { rows, hashesOf }: HashedPage): Promise<void> {
  for (const [n, row] of rows.entries()) {
    const reading = walk.take(row, hashesOf(n));
    if (reading !== undefined) await reading;
  }
}

const UNREADABLE = Symbol("unreadable");

type Pages = AsyncIterator<HashedPage>;

async function nextPage(pages: Pages): Promise<HashedPage | undefined | typeof UNREADABLE> {
  try {
    const next = await pages.next();
    return next.done === true ? undefined : next.value;
  } catch {
    return UNREADABLE;
  }
}

/** An error while closing the source does not change the result of reading. */
async function closePages(pages: Pages): Promise<void> {
  try {
    await pages.return?.();
  } catch {
    return;
  }
}

async function readPublishedCheckpoint(source: LedgerSource): Promise<Checkpoint | "unreadable" | undefined> {
  try {
    const text = await source.log?.readCheckpoint();
    return text === undefined ? undefined : (parseCheckpoint(text) ?? "unreadable");
  } catch {
    return "unreadable";
  }
}

async function countRecords(source: LedgerSource): Promise<number> {
  try {
    return (await source.recordCount?.()) ?? 0;
  } catch {
    return 0;
  }
}
