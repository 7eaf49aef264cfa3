import {
  create,
  fromBinary,
  type LedgerRecord,
  LedgerRecordSchema,
  RecordContentSchema,
  toBinary,
} from "@narthex/contracts";
import type { StoredRecord } from "@narthex/kernel";

export function toLedgerRecord({ index, hash, record }: StoredRecord): LedgerRecord {
  return create(LedgerRecordSchema, { index: BigInt(index), hash, record });
}

/** An encoded RecordContent that names its items and leaves their bytes out. */
export function withoutBytes(content: Uint8Array): Uint8Array {
  const message = fromBinary(RecordContentSchema, content);
  for (const item of message.items) item.data = new Uint8Array(0);
  return toBinary(RecordContentSchema, message);
}
