import type { Entry, JsonObject } from "@narthex/contracts";

/** A record of the ledger, in plain values. */
export interface DecodedRecord {
  /** Its place among all records. */
  readonly index: number;
  /** Lower-case hex. */
  readonly hash: string;
  readonly time: Date;
  /** The id of the session it is about; `system` for records that are about none. */
  readonly session: string;
  readonly requestId: string | undefined;
  /** What it says about a call; undefined if it says nothing about one. */
  readonly call: RecordedCall | undefined;
  readonly entries: readonly DecodedEntry[];
  /** The whole record in a few words, as `narthex ledger list` prints it. */
  readonly summary: string;
}

/** A call as far as one record tells of it: a call with effects has a record before it runs and one after. */
export interface RecordedCall {
  /** `name@version`; undefined if the record that names it is too far back. */
  readonly tool: string | undefined;
  /** `asked`: a person has not answered yet. Undefined if nothing was decided. */
  readonly decision: "allowed" | "denied" | "asked" | undefined;
  /** The ids of the rules that decided. */
  readonly rules: readonly string[];
  /** Who answered for it; undefined if no person did. */
  readonly approver: string | undefined;
  /** Undefined if the call had not ended. */
  readonly outcome: "success" | "denied" | "error" | "repeated" | undefined;
  /** Of a denial or an error. */
  readonly code: string | undefined;
  readonly durationMs: number | undefined;
  readonly resultBytes: number | undefined;
}

export interface DecodedEntry {
  readonly kind: EntryKind;
  /** Under the names of docs/formats/ledger.md; bytes in hex. Arguments and results stand in no record. */
  readonly fields: JsonObject;
}

/** `ToolInvoked`, `PolicyDecision` and so on. */
export type EntryKind = Capitalize<NonNullable<Entry["kind"]["case"]>>;
