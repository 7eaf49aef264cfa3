import { BatchHasher } from "./hash/batch-hasher.ts";
import type { LedgerRow, LedgerSource } from "./ledger-source.ts";
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
  const shown = await readShown(source);
  const { trustedKey, keptCheckpoints: kept = [] } = options;
  const walk = new LedgerWalk(source, { trustedKey, kept, shown, files: source.log }, options.signal);
  const hasher = new BatchHasher();
  const total = options.onProgress === undefined ? 0 : await countRecords(source);
  const report = (done: number): void =>
    options.onProgress?.({ recordsDone: done, recordsTotal: Math.max(total, done) });

  const pages = readPages(source)[Symbol.asyncIterator]();
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
      await takePage(walk, hasher, page);
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

async function takePage(walk: LedgerWalk, hasher: BatchHasher, page: readonly LedgerRow[]): Promise<void> {
  for (let from = 0; from < page.length; ) {
    const count = hasher.hash(page, from);
    for (let n = 0; n < Math.max(count, 1); n++) {
      const row = page[from + n];
      if (row === undefined) return;
      const reading = walk.take(row, count === 0 ? undefined : hasher.of(n));
      if (reading !== undefined) await reading;
    }
    from += Math.max(count, 1);
  }
}

const UNREADABLE = Symbol("unreadable");

type Pages = AsyncIterator<readonly LedgerRow[]>;

async function nextPage(pages: Pages): Promise<readonly LedgerRow[] | undefined | typeof UNREADABLE> {
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
