import { type BatchHasher, HashedRow } from "../hash/batch-hasher.ts";
import { decodeContent } from "../ledger-messages.ts";
import type { HashedPage, LedgerRow } from "../ledger-source.ts";
import { Malformed } from "../wire/decode-canonical.ts";

/** Rows with their hashes in two arrays that can be transferred between threads. */
export interface PackedPage {
  /** For each row: hash, record, content, and their computed hashes. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** For each row: index, sequence, and the lengths of these four. */
  readonly numbers: Float64Array<ArrayBuffer>;
  readonly chains: readonly string[];
}

const PARTS = 4;
const NUMBERS = 2 + PARTS;

/** Packs rows that were hashed as one batch. */
export function packPage(rows: readonly LedgerRow[], hasher: BatchHasher): PackedPage {
  const numbers = new Float64Array(rows.length * NUMBERS);
  const parts: Uint8Array[] = [];
  let length = 0;
  for (let n = 0; n < rows.length; n++) {
    const row = rows[n];
    if (row === undefined) break;
    numbers[n * NUMBERS] = row.index;
    numbers[n * NUMBERS + 1] = row.sequence;
    parts.push(row.hash, row.record, row.content, hasher.of(n).results());
    for (let part = 0; part < PARTS; part++) {
      const partLength = parts[n * PARTS + part]?.length ?? 0;
      numbers[n * NUMBERS + 2 + part] = partLength;
      length += partLength;
    }
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return { bytes, numbers, chains: rows.map((row) => row.chain) };
}

export function unpackPage({ bytes, numbers, chains }: PackedPage): HashedPage {
  const rows: LedgerRow[] = [];
  const hashes: HashedRow[] = [];
  let at = 0;
  let next = 0;
  const number = (): number => numbers[next++] ?? 0;
  const take = (): Uint8Array => bytes.subarray(at, (at += number()));
  for (const chain of chains) {
    const row = { index: number(), sequence: number(), chain, hash: take(), record: take(), content: take() };
    const decoded = decodeContent(row.content);
    hashes.push(new HashedRow(decoded, decoded instanceof Malformed ? [] : decoded.items, bytes, at));
    at += number();
    rows.push(row);
  }
  return { rows, hashesOf: (n) => hashes[n] };
}
