import { hashPages } from "./hash/hash-pages.ts";
import type { HashedPage, LedgerSource } from "./ledger-source.ts";
import { LedgerWalk } from "./ledger-walk.ts";
import { type Checkpoint, parseCheckpoint } from "./log/checkpoint.ts";
import type { LogKey } from "./log/log-key.ts";
import { readPages } from "./read-pages.ts";
import type { VerifyReport } from "./verify-report.ts";

export interface VerifyOptions {
  readonly onProgress?: (progress: VerifyProgress) => void;
  /** The key that checkpoints must lead to. Without it the ledger is taken at its word about who signs. */
  readonly trustedKey?: LogKey | undefined;
  /** Checkpoints that somebody kept: the ledger must be an extension of each. */
  readonly keptCheckpoints?: readonly Checkpoint[];
  /** Leaves the Merkle log out: neither roots nor signatures are looked at, and nothing is proven. */
  readonly chainsOnly?: boolean;
  /** Aborting rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

export interface VerifyProgress {
  readonly recordsDone: number;
  readonly recordsTotal: number;
}

const PROGRESS_EVERY = 4096;

/** Reads a ledger and its content from beginning to end and names everything that is not as it must be. */
export async function verifyLedger(source: LedgerSource, options: VerifyOptions = {}): Promise<VerifyReport> {
  // Before the records: whatever it covers was durable by then.
  const shown = options.chainsOnly === true ? undefined : await readShown(source);
  const { trustedKey, keptCheckpoints: kept = [] } = options;
  const walk = new LedgerWalk(source, { trustedKey, kept, shown, files: source.log }, options.signal);
  if (options.chainsOnly === true) walk.leaveLogOut();
  const total = options.onProgress === undefined ? 0 : await countRecords(source);
  const report = (done: number): void =>
    options.onProgress?.({ recordsDone: done, recordsTotal: Math.max(total, done) });

  const pages = (source.hashedPages?.() ?? hashPages(readPages(source)))[Symbol.asyncIterator]();
  let reported = 0;
  try {
    for (;;) {
      options.signal?.throwIfAborted();
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
  await walk.finish();
  report(walk.records);
  return walk.report();
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

/** What a source says while it is put away changes nothing about what was read. */
async function closePages(pages: Pages): Promise<void> {
  try {
    await pages.return?.();
  } catch {
    return;
  }
}

async function readShown(source: LedgerSource): Promise<Checkpoint | "unreadable" | undefined> {
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
