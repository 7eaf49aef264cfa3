import { canonicalJson, type JsonValue, KernelError } from "@narthex/contracts";
import type { ApprovalResolution } from "./approval.ts";
import type { StandingRow } from "./approval-rows.ts";
import { describeScope, keepScope, type KeptScope, scopeToJson } from "./approval-scope.ts";
import { describeFiles } from "./approved-files.ts";
import { groundsOf } from "./approval-subject.ts";
import { type OpenQuestion, whyNotForSession } from "./open-question.ts";

/** What an answer leaves; undefined if it is for this call only. Throws INVALID_INPUT for one that cannot be given. */
export function standingRow(
  { shown, subject }: OpenQuestion,
  { answer, words, door, approver }: ApprovalResolution,
  givenAtMs: number,
): StandingRow | undefined {
  if (words !== undefined && answer !== "session") throw unfit("words", "words are for an answer for the session");
  if (answer === "once" || answer === "deny") return undefined;
  if (answer === "rule" && shown.ruleText === "") {
    throw unfit("answer", "this kernel has nowhere to write rules to: answer once or for the session");
  }
  const whyNot = answer === "session" ? whyNotForSession(subject) : undefined;
  if (whyNot !== undefined) throw unfit("answer", `${whyNot}: answer once or as a rule`);
  const kept = answer === "session" ? keepScope(subject.scope, subject.inputDigest, words) : undefined;
  const { approvalId, sessionId, tool, ruleText } = shown;
  return {
    state: "standing",
    grounds: kept === undefined ? "" : groundsOf(subject),
    kept,
    files: kept === undefined ? [] : subject.files,
    standing: {
      standingId: approvalId.replace(/^apr_/, "sta_"),
      scope: answer,
      sessionId: answer === "session" ? sessionId : "",
      tool,
      allows: kept === undefined ? ruleText : `${describeKept(kept, shown.input)}${describeFiles(subject.files)}`,
      approvalId,
      door,
      approver,
      givenAtMs,
    },
  };
}

/** Characters of an input that lists of given answers show. */
const MAX_SHOWN_INPUT = 2000;

/** "exactly this input" says nothing once the question is gone: the input stands beside it. */
function describeKept(kept: KeptScope, input: JsonValue): string {
  if (kept.kind !== "input") return describeScope(kept);
  const text = canonicalJson(input);
  const shown = text.length <= MAX_SHOWN_INPUT ? text : `${text.slice(0, MAX_SHOWN_INPUT)}... (cut)`;
  return `${describeScope(kept)}: ${shown}`;
}

/** The same for the ledger. The digest of an input is not in it: it is with the call, where it can be erased. */
export function allowsOf({ kept, standing }: StandingRow): string {
  if (kept?.kind === "input") return JSON.stringify({ kind: kept.kind });
  return kept === undefined ? standing.allows : JSON.stringify(scopeToJson(kept));
}

export function unfit(field: string, message: string): KernelError {
  return new KernelError("INVALID_INPUT", message, { violations: [{ field, rule: "one_of", message }] });
}
