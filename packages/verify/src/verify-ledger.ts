import type { LedgerRow, LedgerSource } from "./ledger-source.ts";
import { LedgerWalk } from "./ledger-walk.ts";
import type { VerifyReport } from "./verify-report.ts";

export interface VerifyOptions {
  readonly onProgress?: (progress: VerifyProgress) => void;
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
  const walk = new LedgerWalk(source, options.signal);
  const total = options.onProgress === undefined ? 0 : await countRecords(source);
  const report = (done: number): void =>
    options.onProgress?.({ recordsDone: done, recordsTotal: Math.max(total, done) });

  const rows = source.records()[Symbol.asyncIterator]();
  try {
    for (;;) {
      options.signal?.throwIfAborted();
      const row = await nextRow(rows);
      if (row === undefined) break;
      if (row === UNREADABLE) {
        walk.sourceFailed();
        break;
      }
      const reading = walk.take(row);
      if (reading !== undefined) await reading;
      if (walk.records % PROGRESS_EVERY === 0) report(walk.records);
    }
  } finally {
    await closeRows(rows);
  }
  await walk.finish();
  report(walk.records);
  return walk.report();
}

const UNREADABLE = Symbol("unreadable");

async function nextRow(rows: AsyncIterator<LedgerRow>): Promise<LedgerRow | undefined | typeof UNREADABLE> {
  try {
    const next = await rows.next();
    return next.done === true ? undefined : next.value;
  } catch {
    return UNREADABLE;
  }
}

/** What a source says while it is put away changes nothing about what was read. */
async function closeRows(rows: AsyncIterator<LedgerRow>): Promise<void> {
  try {
    await rows.return?.();
  } catch {
    return;
  }
}

async function countRecords(source: LedgerSource): Promise<number> {
  try {
    return (await source.recordCount?.()) ?? 0;
  } catch {
    return 0;
  }
}
