import type { ContentItem, Entry, Plain } from "@narthex/contracts";
import type { ErasedItem, StateChange } from "../ports.ts";

/** An entry as plain data: `{ case: "toolStarted", value: { callNumber: 1 } }`. */
export type EntryDraft = NonNullable<Plain<Entry>["kind"]>;

export type ContentDraft = Plain<ContentItem>;

/** The content of a record before it has an index and a place in its chain. */
export interface RecordDraft {
  readonly chain: string;
  readonly requestId?: string;
  /**
   * If false, a lookup by request id finds an earlier record instead of this one. For records that are not the response
   * to the request.
   */
  readonly foundById?: boolean;
  readonly entries: readonly EntryDraft[];
  readonly content?: readonly ContentDraft[];
  /** Rows that change together with the record; a function if they contain the record's index. */
  readonly state?: readonly StateChange[] | ((index: number) => readonly StateChange[]);
  /** Items of earlier records that become tombstones; the record has an entry for each. */
  readonly erasures?: readonly ErasedItem[];
  /** If absent, the chain's logical clock does not advance. */
  readonly logicalTimeMs?: number;
}

export interface AppendedRecord {
  readonly index: number;
  readonly hash: Uint8Array;
  readonly wallTimeMs: number;
}

export const SYSTEM_CHAIN = "system";
