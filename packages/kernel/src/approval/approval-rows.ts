import { canonicalJsonBytes, isJsonObject, type JsonObject, KernelError, parseJson } from "@narthex/contracts";
import type { StateChange, StateRow } from "../ports.ts";
import { type CoveredScope, scopeFromJson, scopeToJson } from "./approval-scope.ts";
import type { StandingApproval } from "./approval.ts";
import { type ApprovedFile, filesFromJson, filesToJson } from "./approved-files.ts";

/** An approval request without a decision. A kernel that finds one when it starts withdraws it. */
export interface PendingApprovalRow {
  readonly state: "open";
  readonly approvalId: string;
  readonly sessionId: string;
}

/**
 * A one-time approval that no call has used. The row is deleted in the same write as the intent of the call that uses
 * it.
 */
export interface OneTimeApprovalRow {
  readonly state: "yes";
  readonly approvalId: string;
  readonly sessionId: string;
  readonly key: string;
  readonly door: string;
  readonly approver: string;
  readonly term: string;
  readonly expiresAtMs: number;
}

/** A standing approval: for a session, or as a rule. */
export interface StandingApprovalRow {
  readonly state: "standing";
  readonly standing: StandingApproval;
  /** For a session approval: what it is bound to, and the scope that it covers. */
  readonly bindingKey: string;
  readonly coveredScope: CoveredScope | undefined;
  /** The files that the approval is bound to. */
  readonly files: readonly ApprovedFile[];
}

export type ApprovalRow = PendingApprovalRow | OneTimeApprovalRow | StandingApprovalRow;

export function putRow(row: ApprovalRow): StateChange {
  const value = canonicalJsonBytes(rowToJson(row));
  return { table: "approvals", key: row.state === "standing" ? row.standing.standingId : row.approvalId, value };
}

export function removeRow(id: string): StateChange {
  return { table: "approvals", key: id, value: undefined };
}

export function readRow({ key, value }: StateRow): ApprovalRow {
  const row = parseJson(value);
  if (!isJsonObject(row)) throw damaged();
  const sessionId = textOf(row, "session_id");
  switch (row["state"]) {
    case "open":
      return { state: "open", approvalId: key, sessionId };
    case "yes":
      return {
        state: "yes",
        approvalId: key,
        sessionId,
        key: textOf(row, "key"),
        door: textOf(row, "door"),
        approver: textOf(row, "approver"),
        term: textOf(row, "term"),
        expiresAtMs: numberOf(row, "expires_at_ms"),
      };
    case "standing":
      return { state: "standing", ...readStanding(key, sessionId, row) };
    default:
      throw damaged();
  }
}

function rowToJson(row: ApprovalRow): JsonObject {
  switch (row.state) {
    case "open":
      return { state: "open", session_id: row.sessionId };
    case "yes":
      return {
        state: "yes",
        session_id: row.sessionId,
        key: row.key,
        door: row.door,
        approver: row.approver,
        term: row.term,
        expires_at_ms: row.expiresAtMs,
      };
    case "standing": {
      const { standingId: _, sessionId, approvalId, givenAtMs, ...rest } = row.standing;
      return {
        ...rest,
        state: "standing",
        session_id: sessionId,
        approval_id: approvalId,
        given_at_ms: givenAtMs,
        grounds: row.bindingKey,
        ...(row.coveredScope && { kept: scopeToJson(row.coveredScope) }),
        ...(row.files.length > 0 && { files: filesToJson(row.files) }),
      };
    }
  }
}

function readStanding(standingId: string, sessionId: string, row: JsonObject): Omit<StandingApprovalRow, "state"> {
  const scope = textOf(row, "scope");
  const files = filesFromJson(row["files"]);
  if ((scope !== "session" && scope !== "rule") || files === undefined) throw damaged();
  return {
    standing: {
      standingId,
      scope,
      sessionId,
      tool: textOf(row, "tool"),
      allows: textOf(row, "allows"),
      approvalId: textOf(row, "approval_id"),
      door: textOf(row, "door"),
      approver: textOf(row, "approver"),
      givenAtMs: numberOf(row, "given_at_ms"),
    },
    bindingKey: textOf(row, "grounds"),
    coveredScope: scope === "session" ? scopeFromJson(row["kept"]) : undefined,
    files,
  };
}

function textOf(row: JsonObject, key: string): string {
  const value = row[key];
  if (typeof value !== "string") throw damaged();
  return value;
}

function numberOf(row: JsonObject, key: string): number {
  const value = row[key];
  if (typeof value !== "number") throw damaged();
  return value;
}

function damaged(): KernelError {
  return new KernelError("INTERNAL", "an approval's row is damaged");
}

/** Returns who gave an approval, and the request that it answered. */
export function toApprovalSource({ approvalId, door, approver }: OneTimeApprovalRow | StandingApproval) {
  return { approvalId, door, approver };
}
