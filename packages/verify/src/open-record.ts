import { HASH_SIZE } from "@narthex/contracts";
import { type DecodedRecord, decodeRecord } from "./ledger-messages.ts";
import type { LedgerRow } from "./ledger-source.ts";
import type { ProblemCode } from "./problem.ts";
import { Malformed } from "./wire/decode-canonical.ts";
import { sameSlices, type Slice, wholeSlice } from "./wire/slice.ts";

/** A record whose bytes match its hash. */
export interface OpenedRecord {
  readonly record: DecodedRecord;
  /** Valid until the next batch of hashes. */
  readonly hash: Slice;
  /** The columns of the row that differ from the record; empty if all columns match. */
  readonly wrongColumns: string;
}

/** Why a row has no record that could be examined. */
export class RecordFault {
  readonly code: ProblemCode;
  readonly message: string;

  constructor(code: ProblemCode, message: string) {
    this.code = code;
    this.message = message;
  }
}

const FORMAT = 1;

export const NOT_A_ROW = new RecordFault("record_malformed", "the row does not hold what a row holds");

/** Checks everything that can be checked on a record by itself. `hash` is the computed hash of its bytes. */
export function openRecord(row: LedgerRow, hash: Slice): OpenedRecord | RecordFault {
  if (!sameSlices(hash, wholeSlice(row.hash)))
    return new RecordFault("hash_mismatch", "the record does not have the hash stored with it");
  const record = decodeRecord(row.record);
  if (record instanceof Malformed)
    return new RecordFault("record_malformed", `not a canonical record: ${record.reason}`);
  const wrong = contradiction(record);
  if (wrong !== undefined) return new RecordFault("record_malformed", wrong);
  return { record, hash, wrongColumns: wrongColumns(row, record) };
}

/** SECURITY: a store file may come from an attacker, and its columns can have any type, whatever a source promises. */
export function isRow(row: LedgerRow): boolean {
  return (
    row.record instanceof Uint8Array &&
    row.hash instanceof Uint8Array &&
    row.content instanceof Uint8Array &&
    typeof row.chain === "string"
  );
}

function contradiction(record: DecodedRecord): string | undefined {
  if (record.format !== FORMAT) return `the record has format ${record.format}, and only format ${FORMAT} is known`;
  if (record.chain === "") return "the record belongs to no chain";
  if (record.previousHash.length !== (record.sequence === 0 ? 0 : HASH_SIZE)) {
    return "previous_hash is empty in a chain's first record and has 32 bytes in every other";
  }
  if (record.entries.length === 0) return "the record has no entries";
  for (const { kind } of record.entries) if (kind.case === undefined) return "an entry has no kind";
  return undefined;
}

function wrongColumns(row: LedgerRow, record: DecodedRecord): string {
  if (row.index === record.index && row.chain === record.chain && row.sequence === record.sequence) return "";
  const wrong: string[] = [];
  if (row.index !== record.index) wrong.push("index");
  if (row.chain !== record.chain) wrong.push("chain");
  if (row.sequence !== record.sequence) wrong.push("sequence");
  return wrong.join(", ");
}
