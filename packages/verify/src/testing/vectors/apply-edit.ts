import type { LedgerRow } from "../../ledger-source.ts";
import type { LedgerBuilder } from "../ledger-builder.ts";

/** A manipulation of a stored ledger. */
export type LedgerEdit =
  | {
      readonly edit: "flip";
      readonly index: number;
      readonly part: "record" | "hash" | "content";
      readonly bit: number;
    }
  | { readonly edit: "drop"; readonly index: number }
  | { readonly edit: "duplicate"; readonly index: number }
  | { readonly edit: "swap"; readonly index: number; readonly with: number }
  | { readonly edit: "drop_file" };

export function applyEdit(ledger: LedgerBuilder, edit: LedgerEdit): LedgerBuilder {
  switch (edit.edit) {
    case "flip":
      ledger.rows[edit.index] = flipRow(rowOf(ledger, edit.index), edit.part, edit.bit);
      break;
    case "drop":
      ledger.rows.splice(edit.index, 1);
      break;
    case "duplicate":
      ledger.rows.splice(edit.index, 0, rowOf(ledger, edit.index));
      break;
    case "swap": {
      const [first, second] = [rowOf(ledger, edit.index), rowOf(ledger, edit.with)];
      ledger.rows[edit.index] = second;
      ledger.rows[edit.with] = first;
      break;
    }
    case "drop_file":
      ledger.files.clear();
      break;
  }
  return ledger;
}

/** Flips one bit. The bit's number counts from the lowest bit of the first byte and wraps around at the end. */
export function flip(bytes: Uint8Array, bit: number): Uint8Array {
  const flipped = bytes.slice();
  const at = Math.floor(bit / 8) % bytes.length;
  flipped[at] = (flipped[at] ?? 0) ^ (1 << (bit % 8));
  return flipped;
}

export function rowOf(ledger: LedgerBuilder, index: number): LedgerRow {
  const row = ledger.rows[index];
  if (row === undefined) throw new Error(`there is no row ${index}`);
  return row;
}

function flipRow(row: LedgerRow, part: "record" | "hash" | "content", bit: number): LedgerRow {
  return { ...row, [part]: flip(row[part], bit) };
}
