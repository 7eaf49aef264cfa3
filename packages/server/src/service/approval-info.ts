import {
  type ApprovalInfo,
  ApprovalInfoSchema,
  create,
  type StandingApproval as StandingApprovalMessage,
  StandingApprovalSchema,
} from "@narthex/contracts";
import type { ListedApprovalRequest, StandingApproval } from "@narthex/kernel";
import { cachedCanonicalJson } from "../cached-canonical-json.ts";

/** Converts an approval request with the exact call: its input whole, as JSON text. */
export function toApprovalInfo(question: ListedApprovalRequest): ApprovalInfo {
  return create(ApprovalInfoSchema, {
    ...question,
    definitionHash: Buffer.from(question.definitionHash, "hex"),
    input: cachedCanonicalJson(question.input),
    inputDigest: Buffer.from(question.inputDigest, "hex"),
    policyHash: Buffer.from(question.policyHash, "hex"),
    ruleIds: [...question.ruleIds],
    messages: [...question.messages],
    alwaysRuleIds: [...question.always],
    notes: [...question.notes],
    effects: [...question.effects],
    labels: [...question.labels],
    requestedAtMs: BigInt(question.requestedAtMs),
    expiresAtMs: BigInt(question.expiresAtMs),
  });
}

export function toStandingApproval({ givenAtMs, ...standing }: StandingApproval): StandingApprovalMessage {
  return create(StandingApprovalSchema, { ...standing, givenAtMs: BigInt(givenAtMs) });
}
