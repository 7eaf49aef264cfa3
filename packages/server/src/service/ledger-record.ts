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

/** Whether content may be read for the subject of a call. */
export type SubjectSource = "record" | "content";

/** Without its content, of which an administrator is told what the call acts on. */
export function toLedgerRecord(stored: StoredRecord, source: SubjectSource): LedgerRecord {
  const { index, hash, record } = stored;
  return create(LedgerRecordSchema, { index: BigInt(index), hash, record, subject: readSubject(stored, source) });
}

/** Empty for a damaged record, which is passed on as it is: verifying it is up to its reader. */
function readSubject({ record, content }: StoredRecord, source: SubjectSource): string {
  try {
    const hasContent = source === "content" && content.length > 0;
    const about = hasContent ? fromBinary(RecordContentSchema, content) : undefined;
    return recordSubject(fromBinary(RecordSchema, record), about);
  } catch {
    return "";
  }
}

/** An encoded RecordContent that names its items and leaves their bytes out. */
export function withoutBytes(content: Uint8Array): Uint8Array {
  const message = fromBinary(RecordContentSchema, content);
  for (const item of message.items) item.data = new Uint8Array(0);
  return toBinary(RecordContentSchema, message);
}
