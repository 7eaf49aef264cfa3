import type { Entry, JsonObject } from "@narthex/contracts";

/** A record of the ledger, in plain values. */
export interface DecodedRecord {
  /** Its index among all records. */
  readonly index: number;
  /** Lower-case hex. */
  readonly hash: string;
  readonly time: Date;
  /** Id of the session that it is about; `system` for records about no session. */
  readonly session: string;
  readonly requestId: string | undefined;
  /** What it says about a call; undefined if it says nothing about one. */
  readonly call: RecordedCall | undefined;
  readonly entries: readonly DecodedEntry[];
  /** Summary of the whole record, as `narthex ledger list` prints it. */
  readonly summary: string;
}

/** A call as described by one record: a call with effects has a record before it runs and one after. */
export interface RecordedCall {
  /** `name@version`; undefined if the record that names it is too far back. */
  readonly tool: string | undefined;
  /** `asked`: the approval is still pending. Undefined if nothing was decided. */
  readonly decision: "allowed" | "denied" | "asked" | undefined;
  /** Ids of the rules that determined the decision. */
  readonly rules: readonly string[];
  /** The user who decided; undefined if no user did. */
  readonly approver: string | undefined;
  /** Undefined if the call had not ended. */
  readonly outcome: "success" | "denied" | "error" | "repeated" | undefined;
  /** Code of a denial or an error. */
  readonly code: string | undefined;
  readonly durationMs: number | undefined;
  readonly resultBytes: number | undefined;
}

export interface DecodedEntry {
  readonly kind: EntryKind;
  /** Under the names in docs/formats/ledger.md; bytes in hex. No record contains arguments or results. */
  readonly fields: JsonObject;
}

/** `ToolInvoked`, `PolicyDecision` and so on. */
export type EntryKind = Capitalize<NonNullable<Entry["kind"]["case"]>>;
