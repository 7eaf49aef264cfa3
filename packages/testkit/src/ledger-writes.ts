import { compileEncoder, hashRecord, type RecordMessage, RecordSchema, utf8 } from "@narthex/contracts";
import type { ContentDraft, ErasedItem, StateChange, StoreWrite } from "@narthex/kernel";

/** The properties of a write that a test sets; the rest is filled in. */
export interface WriteFacts {
  readonly chain?: string;
  readonly requestId?: string;
  readonly content?: readonly ContentDraft[];
  readonly state?: readonly StateChange[];
  readonly erasures?: readonly ErasedItem[];
  readonly wallTimeMs?: number;
  readonly logicalTimeMs?: number;
  /** Number of bytes by which the record is longer. */
  readonly padding?: number;
}

const encodeRecord = compileEncoder<RecordMessage>(RecordSchema);

/** Returns a function that creates well-formed writes of one ledger, with consecutive indexes. */
export function createLedgerWrites(firstIndex = 0): (facts?: WriteFacts) => StoreWrite {
  const sequences = new Map<string, number>();
  let index = firstIndex;
  return (facts = {}) => {
    const { chain = "system", requestId = "", content = [], state = [], erasures = [], padding = 0 } = facts;
    const sequence = sequences.get(chain) ?? 0;
    sequences.set(chain, sequence + 1);
    const record = encodeRecord({
      format: 1,
      index,
      chain,
      sequence,
      logicalTimeMs: facts.logicalTimeMs ?? sequence * 1000,
      wallTimeMs: facts.wallTimeMs ?? 1_800_000_000_000 + index,
      requestId,
      previousHash: utf8("x".repeat(padding)),
    });
    return { index: index++, chain, sequence, requestId, hash: hashRecord(record), record, content, state, erasures };
  };
}
