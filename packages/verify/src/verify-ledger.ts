import { KernelError } from "@narthex/contracts";
import { hashOfRecord, sameBytes } from "./ledger-hash.ts";
import type { LedgerSource } from "./ledger-source.ts";
import { isRow } from "./open-record.ts";
import { VerifiedFault } from "./verified/verified-file.ts";
import { decodeVerifiedState, rootOfState, type VerifiedState } from "./verified/verified-state.ts";
import type { VerifyReport } from "./verify-report.ts";
import { type VerifyOptions, walkLedger } from "./walk-ledger.ts";

/** Verifies a ledger and its content, and reports everything that violates the rules. */
export async function verifyLedger(source: LedgerSource, options: VerifyOptions = {}): Promise<VerifyReport> {
  refuseUnknown(options);
  if (options.before === undefined) return walkLedger(source, options);
  const before = decodeVerifiedState(options.before);
  requireComparable(before, options);
  if (await isContinued(source, before)) {
    const report = await walkLedger(source, options, { before });
    if (report.problemCount === 0) return report;
  }
  // The cause of a problem may be in records that were not read, so all are read, and must include the tree that the
  // earlier run saw.
  const report = await walkLedger(source, options, { seen: { size: before.records, root: rootOfState(before) } });
  if (report.problemCount > 0) return report;
  throw new VerifiedFault("it says of a ledger that is sound when all of it is read what is not so");
}

const NAMES: Readonly<Record<keyof VerifyOptions, true>> = {
  onProgress: true,
  trustedKey: true,
  keptCheckpoints: true,
  chainsOnly: true,
  before: true,
  nowMs: true,
  recordsOnly: true,
  signal: true,
};

/** SECURITY: a misspelt `trustedKey` would be ignored, and the report would find nothing wrong. */
function refuseUnknown(options: VerifyOptions): void {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(NAMES, name));
  if (unknown === undefined) return;
  const message = `\`${unknown.slice(0, 80)}\` is not known; known are ${Object.keys(NAMES).join(", ")}`;
  const violations = [{ field: unknown, rule: "unknown_field", message }];
  throw new KernelError("INVALID_INPUT", `options of verifyLedger: ${message}`, { violations });
}

/** A kept checkpoint smaller than the earlier run's tree must have been compared by that run. */
function requireComparable({ verifiedTree }: VerifiedState, { keptCheckpoints = [], chainsOnly }: VerifyOptions): void {
  if (chainsOnly === true) throw new VerifiedFault("without the log there is nothing to go on from");
  for (const { size, root } of keptCheckpoints) {
    const isKnown = verifiedTree.kept.some((known) => known.size === size && sameBytes(known.root, root));
    if (size < verifiedTree.size && !isKnown) {
      throw new VerifiedFault(`it knows nothing of the kept checkpoint of ${size} records: all of it has to be read`);
    }
  }
}

/** Whether the last record of the earlier run is still at its place. */
async function isContinued(source: LedgerSource, { records, headHash }: VerifiedState): Promise<boolean> {
  try {
    for await (const row of source.records(records - 1)) {
      const isSame = row.index === records - 1 && isRow(row) && sameBytes(row.hash, headHash);
      return isSame && sameBytes(hashOfRecord(row.record), headHash);
    }
  } catch {
    // The full run will report the problem.
  }
  return false;
}
