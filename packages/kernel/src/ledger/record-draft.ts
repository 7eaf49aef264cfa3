import type { ContentItem, Entry, Plain } from "@narthex/contracts";
import type { ErasedItem, StateChange } from "../ports.ts";

/** An entry as plain data: `{ case: "toolStarted", value: { callNumber: 1 } }`. */
export type EntryDraft = NonNullable<Plain<Entry>["kind"]>;

export type ContentDraft = Plain<ContentItem>;

/** What becomes one record, before it has a place in its chain. */
export interface RecordDraft {
  readonly chain: string;
  readonly requestId?: string;
  /** False: looking for the request id finds the record before this one. For what does not answer the id. */
  readonly foundById?: boolean;
  readonly entries: readonly EntryDraft[];
  readonly content?: readonly ContentDraft[];
  /** Rows that change with the record; as a function where they name the record itself. */
  readonly state?: readonly StateChange[] | ((index: number) => readonly StateChange[]);
  /** Items of earlier records that are tombstones from then on; an entry says so of each. */
  readonly erasures?: readonly ErasedItem[];
  /** Absent means that the chain's logical clock stands still. */
  readonly logicalTimeMs?: number;
}

export interface AppendedRecord {
  readonly index: number;
  readonly hash: Uint8Array;
  readonly wallTimeMs: number;
}

export const SYSTEM_CHAIN = "system";
