import { blake3, ContentRole, isJsonObject, isKernelError, type JsonObject } from "@narthex/contracts";
import type { KernelParts } from "../../kernel-parts.ts";
import { commitContent } from "../../ledger/commitment.ts";
import { demandFor } from "../../policy/approval-demand.ts";
import { type AskedCall, type CallQuestion, questionFor } from "../../policy/call-questions.ts";
import type { PolicyAnswer } from "../../policy/policy.ts";
import type { PolicyQuestion } from "../../policy/policy-question.ts";
import { createProof } from "../../policy/proof.ts";
import { PROTECTED_ACTION } from "../../policy/protected-action.ts";
import { refusalOf } from "../../policy/refusal-of.ts";
import { redactJson } from "../../result/redact.ts";
import { holdsSecret } from "../../secret/secret-search.ts";
import type { DecidedCall } from "../call.ts";
import type { CallTrail } from "../call-trail.ts";
import { Denied } from "../ending.ts";
import { hiddenInRecord } from "../hidden-secrets.ts";

/** What policy said to a call. */
export type PolicyWord = Pick<DecidedCall, "policyAnswer" | "policyHash" | "approval" | "always">;

/** Asks policy and seals its answer in a proof. Nothing matched means denied, and so does any error. */
export function askPolicy(
  asked: AskedCall,
  { action, target }: CallQuestion,
  trail: CallTrail,
  kernel: KernelParts,
): PolicyWord | Denied {
  const current = kernel.policy.current;
  if ("problem" in current) {
    trail.add({ case: "policyDecision", value: { allowed: false, rationaleCode: "POLICY_MISSING" } });
    return new Denied("POLICY_MISSING", "kernel:decide", `no policy is in force: ${current.problem}`);
  }
  const question = askable(() => questionWithoutSecrets(asked, { action, target }, kernel));
  if (question instanceof Denied) {
    trail.add({ case: "policyDecision", value: { allowed: false, rationaleCode: "POLICY_ERROR" } });
    return question;
  }
  const { request, bytes: requestBytes } = question;
  const requestHash = blake3(requestBytes);
  const answer = kernel.policy.evaluate(request);
  const refusal = refusalOf(action, answer, asked.registered.tool.source);
  const code = refusal?.code;
  const { approve, always } = demandFor(answer, refusal, asked.facts.tier);
  const ruleIds = answer.rules.map((rule) => rule.id);
  const proof = createProof({ answer, set: current, requestHash, approve, rationaleCode: code ?? "" });

  const observedOnly = kernel.policyMode === "observe" && isOpinion(action, answer);
  const committedProof = commitContent(
    { role: ContentRole.PROOF, digest: proof.digest, bytes: proof.bytes, size: proof.bytes.length },
    kernel.random,
  );
  const committedRequest = commitContent(
    { role: ContentRole.POLICY_REQUEST, digest: requestHash, bytes: requestBytes, size: requestBytes.length },
    kernel.random,
  );
  trail.proof = committedProof;
  trail.proofBytes = proof.bytes;
  trail.attach(committedProof.item);
  trail.attach(committedRequest.item);
  trail.add({
    case: "policyDecision",
    value: {
      allowed: code === undefined,
      ruleIds,
      policyHash: current.hash,
      proofCommitment: committedProof.commitment,
      policyRequestCommitment: committedRequest.commitment,
      approve,
      rationaleCode: code ?? "",
      observedOnly,
    },
  });
  if (observedOnly) return { policyAnswer: answer, policyHash: current.hash, approval: "none", always: [] };
  if (refusal !== undefined) return new Denied(refusal.code, refusal.ruleId, refusal.message);
  return { policyAnswer: answer, policyHash: current.hash, approval: approve, always };
}

/**
 * In observe mode what rules refuse, or would ask a person about, is recorded and not carried out. A policy that cannot be
 * evaluated still denies, and protected paths stay protected: those are not a rule's opinion.
 */
function isOpinion(action: string, { errors }: PolicyAnswer): boolean {
  return errors.length === 0 && action !== PROTECTED_ACTION;
}

/** SECURITY: what policy is asked is stored, so that it can be asked again: no secret stands in it. */
function questionWithoutSecrets(asked: AskedCall, about: CallQuestion, kernel: KernelParts): PolicyQuestion {
  const question = questionFor(asked, about, kernel.policy);
  const hidden = hiddenInRecord(asked, kernel);
  if (!holdsSecret(question.bytes, hidden)) return question;
  const tagged = kernel.secrets.tagged(hidden);
  const redact = (facts: JsonObject): JsonObject => {
    const redacted = redactJson(facts, tagged);
    return isJsonObject(redacted) ? redacted : {};
  };
  return questionFor({ ...asked, redact }, about, kernel.policy);
}

/** SECURITY: what cannot even be asked is denied like any other error of policy. */
function askable(ask: () => PolicyQuestion): PolicyQuestion | Denied {
  try {
    return ask();
  } catch (fault) {
    if (!isKernelError(fault) || fault.code !== "POLICY_ERROR") throw fault;
    return new Denied("POLICY_ERROR", "kernel:decide", `policy could not be asked, so it denies: ${fault.message}`);
  }
}
