import type { Entry, Proof, RecordContent, RecordMessage } from "@narthex/contracts";
import { CONTENT_LAYOUT, type KEPT, PROOF_LAYOUT, RECORD_LAYOUT } from "./ledger-layouts.ts";
import { type Decoded, decodeCanonical, type Malformed } from "./wire/decode-canonical.ts";
import { readProof, readRecord, readRecordContent } from "./wire/gen/read-ledger.ts";
import type { Slice } from "./wire/slice.ts";

type Kept = typeof KEPT;

export type DecodedRecord = Decoded<RecordMessage, Kept>;
export type DecodedEntry = Decoded<Entry, Kept>["kind"];
export type EntryKind = Exclude<DecodedEntry["case"], undefined>;
/** The entry of one kind. */
export type EntryOf<Kind extends EntryKind> = Extract<DecodedEntry, { case: Kind }>["value"];
export type DecodedContent = Decoded<RecordContent, Kept>;
export type DecodedProof = Decoded<Proof, Kept>;
export type DecodedItem = DecodedContent["items"][number];

/** The fast decoder accepts canonical bytes only; for anything else the strict one reports what is wrong. */
export function decodeRecord(bytes: Uint8Array): DecodedRecord | Malformed {
  const record = readRecord(bytes, 0, bytes.length) as DecodedRecord | undefined;
  return record ?? decodeCanonical<RecordMessage, Kept>(RECORD_LAYOUT, bytes);
}

export function decodeContent(bytes: Uint8Array): DecodedContent | Malformed {
  const content = readRecordContent(bytes, 0, bytes.length) as DecodedContent | undefined;
  return content ?? decodeCanonical<RecordContent, Kept>(CONTENT_LAYOUT, bytes);
}

export function decodeProof({ bytes, start, end }: Slice): DecodedProof | Malformed {
  const proof = readProof(bytes, start, end) as DecodedProof | undefined;
  return proof ?? decodeCanonical<Proof, Kept>(PROOF_LAYOUT, bytes.subarray(start, end));
}
