import {
  create,
  fromBinary,
  type LedgerRecord,
  LedgerRecordSchema,
  RecordContentSchema,
  RecordSchema,
  toBinary,
} from "@narthex/contracts";
import type { StoredRecord } from "@narthex/kernel";
import { recordSubject } from "../call-subject.ts";

/** Whether content may be read to find out what a call acts on. */
export type SubjectSource = "record" | "content";

/** Converts a record without its content, but with a description of what the call acts on. */
export function toLedgerRecord(stored: StoredRecord, source: SubjectSource): LedgerRecord {
  const { index, hash, record } = stored;
  return create(LedgerRecordSchema, { index: BigInt(index), hash, record, subject: readSubject(stored, source) });
}

/** Returns an empty string for a damaged record, which is passed on unchanged: its reader has to verify it. */
function readSubject({ record, content }: StoredRecord, source: SubjectSource): string {
  try {
    const hasContent = source === "content" && content.length > 0;
    const about = hasContent ? fromBinary(RecordContentSchema, content) : undefined;
    return recordSubject(fromBinary(RecordSchema, record), about);
  } catch {
    return "";
  }
}

/** Encodes a RecordContent that names its items but omits their bytes. */
export function withoutBytes(content: Uint8Array): Uint8Array {
  const message = fromBinary(RecordContentSchema, content);
  for (const item of message.items) item.data = new Uint8Array(0);
  return toBinary(RecordContentSchema, message);
}
