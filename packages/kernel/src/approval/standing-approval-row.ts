import { canonicalJson, type JsonValue, KernelError } from "@narthex/contracts";
import type { ApprovalResolution } from "./approval.ts";
import type { StandingApprovalRow } from "./approval-rows.ts";
import { describeScope, toCoveredScope, type CoveredScope, scopeToJson } from "./approval-scope.ts";
import { describeFiles } from "./approved-files.ts";
import { toSessionBindingKey } from "./approval-subject.ts";
import { type PendingApproval, sessionApprovalProblem } from "./pending-approval.ts";

/**
 * Creates the row of a standing approval; undefined for a decision on this call only. Throws INVALID_INPUT for a
 * decision that cannot be given.
 */
export function createStandingRow(
  { request, subject }: PendingApproval,
  { answer, words, door, approver }: ApprovalResolution,
  givenAtMs: number,
): StandingApprovalRow | undefined {
  if (words !== undefined && answer !== "session") throw unfit("words", "words are for an answer for the session");
  if (answer === "once" || answer === "deny") return undefined;
  if (answer === "rule" && request.ruleText === "") {
    throw unfit("answer", "this kernel has nowhere to write rules to: answer once or for the session");
  }
  const whyNot = answer === "session" ? sessionApprovalProblem(subject) : undefined;
  if (whyNot !== undefined) throw unfit("answer", `${whyNot}: answer once or as a rule`);
  const kept = answer === "session" ? toCoveredScope(subject.scope, subject.inputDigest, words) : undefined;
  const { approvalId, sessionId, tool, ruleText } = request;
  return {
    state: "standing",
    bindingKey: kept === undefined ? "" : toSessionBindingKey(subject),
    coveredScope: kept,
    files: kept === undefined ? [] : subject.files,
    standing: {
      standingId: approvalId.replace(/^apr_/, "sta_"),
      scope: answer,
      sessionId: answer === "session" ? sessionId : "",
      tool,
      allows:
        kept === undefined ? ruleText : `${describeCoveredScope(kept, request.input)}${describeFiles(subject.files)}`,
      approvalId,
      door,
      approver,
      givenAtMs,
    },
  };
}

/** Maximum number of characters of an input shown in lists of standing approvals. */
const MAX_SHOWN_INPUT = 2000;

/**
 * Describes a scope for users. "Exactly this input" says nothing after the request has ended, so the input is added.
 */
function describeCoveredScope(kept: CoveredScope, input: JsonValue): string {
  if (kept.kind !== "input") return describeScope(kept);
  const text = canonicalJson(input);
  const shown = text.length <= MAX_SHOWN_INPUT ? text : `${text.slice(0, MAX_SHOWN_INPUT)}... (cut)`;
  return `${describeScope(kept)}: ${shown}`;
}

/**
 * Describes a scope for the ledger. Leaves out the digest of an input: that is stored with the call, where it can be
 * erased.
 */
export function describeForLedger({ coveredScope, standing }: StandingApprovalRow): string {
  if (coveredScope?.kind === "input") return JSON.stringify({ kind: coveredScope.kind });
  return coveredScope === undefined ? standing.allows : JSON.stringify(scopeToJson(coveredScope));
}

export function unfit(field: string, message: string): KernelError {
  return new KernelError("INVALID_INPUT", message, { violations: [{ field, rule: "one_of", message }] });
}
