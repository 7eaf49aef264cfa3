import { canonicalJsonBytes, isJsonObject, type JsonValue, KernelError, parseJson } from "@narthex/contracts";
import type { StateChange, Store } from "../ports.ts";
import { parseDecimal } from "./checkpoint-note.ts";

/** Which records tell about the log. Kept beside them, so that they are found without a search. */
export interface MerkleRow {
  /** Of the announcements of its keys, the first one first. */
  readonly keyRecords: readonly number[];
  /** Of the newest checkpoint. */
  readonly checkpointRecord: number | undefined;
}

const TABLE = "meta";
const KEY = "log";
const SIZE_DIGITS = 16;

export function merkleRow({ keyRecords, checkpointRecord }: MerkleRow): StateChange {
  const value = canonicalJsonBytes({ checkpoint_record: checkpointRecord ?? null, key_records: keyRecords });
  return { table: TABLE, key: KEY, value };
}

/** Undefined for a log that never had a key. */
export async function readMerkleRow(store: Store): Promise<MerkleRow | undefined> {
  const bytes = await store.getState(TABLE, KEY);
  if (bytes === undefined) return undefined;
  const value = parseJson(bytes);
  const { key_records: keyRecords, checkpoint_record: checkpointRecord } = isJsonObject(value) ? value : {};
  const isWhole = Array.isArray(keyRecords) && keyRecords.every(isIndex) && keyRecords.length > 0;
  if (!isWhole || !(checkpointRecord === null || isIndex(checkpointRecord))) throw damaged();
  return { keyRecords, checkpointRecord: checkpointRecord ?? undefined };
}

/** Where the checkpoint of a size is recorded. */
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
