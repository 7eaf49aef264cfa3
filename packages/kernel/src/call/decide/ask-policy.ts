import { blake3, ContentRole, isKernelError } from "@narthex/contracts";
import { commitContent } from "../../ledger/commitment.ts";
import { approvalDemand } from "../../policy/approval-demand.ts";
import type { PolicyQuestion } from "../../policy/policy-question.ts";
import { createProof } from "../../policy/proof.ts";
import { refusalOf } from "../../policy/refusal-of.ts";
import type { DecidedCall } from "../call.ts";
import { Denied } from "../ending.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { type CallQuestion, questionAbout } from "./question-about.ts";
import { PROTECTED_ACTION } from "../../policy/protected-action.ts";

/** Asks policy and seals its answer in a proof. Nothing matched means denied, and so does any error. */
export function askPolicy(
  asked: CallQuestion,
  kernel: KernelParts,
): Pick<DecidedCall, "policyAnswer" | "policyHash" | "approval"> | Denied {
  const { call, facts } = asked;
  const current = kernel.policy.current;
  if ("problem" in current) {
    call.trail.add({ case: "policyDecision", value: { allowed: false, rationaleCode: "POLICY_MISSING" } });
    return new Denied("POLICY_MISSING", "kernel:decide", `no policy is in force: ${current.problem}`);
  }
  const question = askable(() => questionAbout(asked, kernel));
  if (question instanceof Denied) {
    call.trail.add({ case: "policyDecision", value: { allowed: false, rationaleCode: "POLICY_ERROR" } });
    return question;
  }
  const { request, bytes: requestBytes } = question;
  const requestHash = blake3(requestBytes);
  const answer = kernel.policy.evaluate(request);
  const refusal = refusalOf(facts.action, answer);
  const code = refusal?.code;
  const approve = code === undefined ? approvalDemand(answer.rules, facts.tier) : "none";
  const isObserved = isOnlyObserved(facts.action, code, approve, kernel);
  const ruleIds = answer.rules.map((rule) => rule.id);
  const proof = createProof({ answer, set: current, requestHash, approve, rationaleCode: code ?? "" });

  const { trail } = call;
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
      observedOnly: isObserved || (kernel.policyMode === "observe" && code === undefined),
    },
  });
  if (isObserved) return { policyAnswer: answer, policyHash: current.hash, approval: "none" };
  if (refusal !== undefined) return new Denied(refusal.code, refusal.ruleId, refusal.message);
  return { policyAnswer: answer, policyHash: current.hash, approval: approve };
}

/**
 * In observe mode what rules refuse, or would ask a person about, is recorded and not carried out. A policy that cannot be
 * evaluated still denies, and protected paths stay protected: those are not a rule's opinion.
 */
function isOnlyObserved(action: string, code: string | undefined, approve: string, kernel: KernelParts): boolean {
  if (kernel.policyMode !== "observe" || code === "POLICY_ERROR" || action === PROTECTED_ACTION) return false;
  return code !== undefined || approve !== "none";
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
