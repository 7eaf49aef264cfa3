import { type ContentItem, fromBinary, RecordContentSchema, RecordSchema, toHex } from "@narthex/contracts";
import type { LedgerRow } from "@narthex/verify";
import { UNCOMMITTED } from "../../packages/verify/src/testing/is-uncovered.ts";
import type { RealLedger } from "./real-ledger.ts";

/**
 * Whether other content of a record only leaves out what need not be there: items that no commitment names, and those
 * that an earlier record of the same call has as well. See docs/formats/ledger.md, "Content items".
 */
export function isDispensable(ledger: RealLedger, row: LedgerRow, content: Uint8Array): boolean {
  const after = itemsOf(content);
  if (after === undefined) return false;
  const kept = new Set(after.map(identify));
  const before = itemsOf(row.content) ?? [];
  const left = before.filter((item) => kept.has(identify(item)));
  if (left.length !== after.length || left.length === before.length) return false;
  const earlier = new Set(earlierItems(ledger, row));
  return before.every((item) => {
    const identity = identify(item);
    return kept.has(identity) || UNCOMMITTED.has(item.role) || earlier.has(identity);
  });
}

function earlierItems(ledger: RealLedger, row: LedgerRow): string[] {
  const { requestId } = fromBinary(RecordSchema, row.record);
  return ledger.rows
    .filter((other) => other.chain === row.chain && other.sequence < row.sequence)
    .filter((other) => requestId !== "" && fromBinary(RecordSchema, other.record).requestId === requestId)
    .flatMap((other) => (itemsOf(other.content) ?? []).map(identify));
}

function identify({ role, nonce }: ContentItem): string {
  return `${role} ${toHex(nonce)}`;
}

function itemsOf(content: Uint8Array): readonly ContentItem[] | undefined {
  try {
    return fromBinary(RecordContentSchema, content).items;
  } catch {
    return undefined;
  }
}
