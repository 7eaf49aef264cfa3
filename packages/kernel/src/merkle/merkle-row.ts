import { canonicalJsonBytes, isJsonObject, type JsonValue, KernelError, parseJson } from "@narthex/contracts";
import type { StateChange, Store } from "../ports.ts";
import { parseDecimal } from "./checkpoint-note.ts";

/** Indexes of the records about the merkle tree, stored beside them so that they are found without a search. */
export interface MerkleRow {
  /** Records of the key announcements, oldest first. */
  readonly keyRecords: readonly number[];
  /** Record of the newest checkpoint. */
  readonly checkpointRecord: number | undefined;
}

const TABLE = "meta";
const KEY = "log";
const SIZE_DIGITS = 16;

export function merkleRow({ keyRecords, checkpointRecord }: MerkleRow): StateChange {
  const value = canonicalJsonBytes({ checkpoint_record: checkpointRecord ?? null, key_records: keyRecords });
  return { table: TABLE, key: KEY, value };
}

/** Undefined if the tree never had a signing key. */
export async function readMerkleRow(store: Store): Promise<MerkleRow | undefined> {
  const bytes = await store.getState(TABLE, KEY);
  if (bytes === undefined) return undefined;
  const value = parseJson(bytes);
  const { key_records: keyRecords, checkpoint_record: checkpointRecord } = isJsonObject(value) ? value : {};
  const isWhole = Array.isArray(keyRecords) && keyRecords.every(isIndex) && keyRecords.length > 0;
  if (!isWhole || !(checkpointRecord === null || isIndex(checkpointRecord))) throw damaged();
  return { keyRecords, checkpointRecord: checkpointRecord ?? undefined };
}

/** State row with the record that holds the checkpoint of this size. */
export function checkpointRow(size: number, recordIndex: number): StateChange {
  return { table: TABLE, key: checkpointKey(size), value: new TextEncoder().encode(String(recordIndex)) };
}

export async function findCheckpointRecord(size: number, store: Store): Promise<number | undefined> {
  const bytes = await store.getState(TABLE, checkpointKey(size));
  if (bytes === undefined) return undefined;
  const index = parseDecimal(new TextDecoder().decode(bytes));
  if (index === undefined) throw damaged();
  return index;
}

function checkpointKey(size: number): string {
  return `${KEY}/checkpoint/${String(size).padStart(SIZE_DIGITS, "0")}`;
}

function isIndex(value: JsonValue | undefined): value is number {
  return Number.isSafeInteger(value);
}

function damaged(): KernelError {
  return new KernelError("INTERNAL", "a row of the log's state is damaged; run `narthex ledger verify`");
}
