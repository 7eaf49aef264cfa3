import { compileEncoder, hashRecord, type RecordMessage, RecordSchema, utf8 } from "@narthex/contracts";
import type { ContentDraft, ErasedItem, StateChange, StoreWrite } from "@narthex/kernel";

/** What a test cares about in a write; the rest is filled in. */
export interface WriteFacts {
  readonly chain?: string;
  readonly requestId?: string;
  readonly content?: readonly ContentDraft[];
  readonly state?: readonly StateChange[];
  readonly erasures?: readonly ErasedItem[];
  readonly wallTimeMs?: number;
  readonly logicalTimeMs?: number;
  /** Makes the record this much longer. */
  readonly padding?: number;
}

const encodeRecord = compileEncoder<RecordMessage>(RecordSchema);

/** Well-formed writes of one ledger, numbered as they are made. */
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
