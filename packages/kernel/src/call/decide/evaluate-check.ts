import { blake3, ContentRole, isJsonObject, isKernelError, type JsonObject } from "@narthex/contracts";
import type { KernelParts } from "../../kernel-parts.ts";
import { commitContent } from "../../ledger/commitment.ts";
import { toApprovalRequirement } from "../../policy/approval-requirement.ts";
import { type PolicyInput, type PolicyCheck, createPolicyRequest } from "../../policy/policy-checks.ts";
import type { PolicyEvaluation, PolicyRequest } from "../../policy/policy.ts";
import type { EncodedPolicyRequest } from "../../policy/encode-policy-request.ts";
import { createProof } from "../../policy/proof.ts";
import { PROTECTED_ACTION } from "../../policy/protected-action.ts";
import { toPolicyRefusal } from "../../policy/policy-refusal.ts";
import { replaceTexts } from "../../result/redact.ts";
import { holdsSecret } from "../../secret/secret-search.ts";
import type { DecidedCall } from "../call.ts";
import type { CallTrail } from "../call-trail.ts";
import { Denied } from "../ending.ts";
import { redactorsForRecord } from "../call-redactors.ts";

/** The decision of policy on a call that it permits. */
export type PolicyOutcome = Pick<DecidedCall, "policyEvaluation" | "policyHash" | "approval" | "always">;

/**
 * Evaluates policy and seals its decision in a proof. A call that no rule matches is denied, and so is one with any
 * error.
 */
export function evaluateCheck(
  asked: PolicyInput,
  { action, target }: PolicyCheck,
  trail: CallTrail,
  kernel: KernelParts,
): PolicyOutcome | Denied {
  const current = kernel.policy.current;
  if ("problem" in current) {
    trail.add({ case: "policyDecision", value: { allowed: false, rationaleCode: "POLICY_MISSING" } });
    return new Denied("POLICY_MISSING", "kernel:decide", `no policy is in force: ${current.problem}`);
  }
  const question = denyOnPolicyError(() => createRedactedRequest(asked, { action, target }, kernel));
  if (question instanceof Denied) {
    trail.add({ case: "policyDecision", value: { allowed: false, rationaleCode: "POLICY_ERROR" } });
    return question;
  }
  const { request, bytes: requestBytes } = question.recorded;
  const requestHash = blake3(requestBytes);
  const answer = kernel.policy.evaluate(request);
  const refusal = toPolicyRefusal({ action, target, source: asked.registered.tool.source }, answer);
  const code = refusal?.code;
  const { approve, always } = toApprovalRequirement(answer, refusal, asked.facts.tier);
  const ruleIds = answer.rules.map((rule) => rule.id);
  const proof = createProof({ evaluation: answer, set: current, requestHash, approve, rationaleCode: code ?? "" });

  const observedOnly = kernel.policyMode === "observe" && mayBeObservedOnly(action, answer);
  const decision = { allowed: code === undefined, ruleIds, policyHash: current.hash, approve, observedOnly };
  // SECURITY: bytes that contain a secret would be withheld from the record, although the entry would promise them.
  const isStorable = ![requestBytes, proof.bytes].some((bytes) => kernel.secrets.isIn(bytes));
  trail.add({
    case: "policyDecision",
    value: {
      ...decision,
      rationaleCode: code ?? "",
      ...(isStorable && commitDecision({ request: question.recorded, requestHash, proof }, trail, kernel)),
    },
  });
  if (refusal !== undefined && !observedOnly) return new Denied(refusal.code, refusal.ruleId, refusal.message);
  const policyHash = current.hash;
  const word: PolicyOutcome = observedOnly
    ? { policyEvaluation: answer, policyHash, approval: "none", always: [] }
    : { policyEvaluation: answer, policyHash, approval: approve, always };
  return question.unredacted === undefined
    ? word
    : evaluateUnredacted(asked, action, question.unredacted, word, trail, kernel);
}

/**
 * Evaluates a call with secrets in its input as the tool gets it. The call is refused, or a user is asked, if either
 * decision says so.
 *
 * SECURITY: values in files of the vault count as secrets, such as the name of a host. If redacted, such a value would
 * slip past a rule that forbids it. This policy request is not stored, so the entry of a stricter decision has no
 * proof. Tested by "rules match text that the record redacts".
 */
function evaluateUnredacted(
  asked: PolicyInput,
  action: string,
  request: PolicyRequest,
  word: PolicyOutcome,
  trail: CallTrail,
  kernel: KernelParts,
): PolicyOutcome | Denied {
  const answer = kernel.policy.evaluate(request);
  if (kernel.policyMode === "observe" && mayBeObservedOnly(action, answer)) return word;
  const refusal = toPolicyRefusal({ action, source: asked.registered.tool.source }, answer);
  const { approve, always } = toApprovalRequirement(answer, refusal, asked.facts.tier);
  const both = stricter(word, { ...word, policyEvaluation: answer, approval: approve, always });
  if (refusal === undefined && both.approval === word.approval && both.always.length === word.always.length)
    return word;
  const ruleIds = answer.rules.map(({ id }) => id);
  const { policyHash } = word;
  trail.add({
    case: "policyDecision",
    value: { allowed: refusal === undefined, ruleIds, policyHash, approve, rationaleCode: refusal?.code ?? "" },
  });
  return refusal === undefined ? both : new Denied(refusal.code, refusal.ruleId, refusal.message);
}

const STRICTNESS = ["none", "human", "console"] as const;

/** Combines two decisions that both permit the call: the strictest approval applies. */
export function stricter(first: PolicyOutcome, second: PolicyOutcome): PolicyOutcome {
  const strictest = Math.max(STRICTNESS.indexOf(first.approval), STRICTNESS.indexOf(second.approval));
  const rules = new Map(
    [...first.policyEvaluation.rules, ...second.policyEvaluation.rules].map((rule) => [rule.id, rule]),
  );
  return {
    ...first,
    policyEvaluation: { ...first.policyEvaluation, rules: [...rules.values()].sort((a, b) => (a.id < b.id ? -1 : 1)) },
    approval: STRICTNESS[strictest] ?? "console",
    always: [...new Set([...first.always, ...second.always])].sort(),
  };
}

interface ProvenDecision {
  readonly request: EncodedPolicyRequest;
  readonly requestHash: Uint8Array;
  readonly proof: ReturnType<typeof createProof>;
}

/** Attaches the proof and the policy request to the call's record, so that the decision can be made again from them. */
function commitDecision({ request, requestHash, proof }: ProvenDecision, trail: CallTrail, { random }: KernelParts) {
  const committedProof = commitContent(
    { role: ContentRole.PROOF, digest: proof.digest, bytes: proof.bytes, size: proof.bytes.length },
    random,
  );
  const { bytes } = request;
  const committedRequest = commitContent(
    { role: ContentRole.POLICY_REQUEST, digest: requestHash, bytes, size: bytes.length },
    random,
  );
  trail.proof = committedProof;
  trail.proofBytes = proof.bytes;
  trail.attach(committedProof.item);
  trail.attach(committedRequest.item);
  return { proofCommitment: committedProof.commitment, policyRequestCommitment: committedRequest.commitment };
}

/**
 * Whether a refusal, or the need for an approval, may be recorded without being enforced, as in observe mode. A policy
 * that cannot be evaluated still denies, and protected paths stay protected: neither is the opinion of a rule.
 */
function mayBeObservedOnly(action: string, { errors }: PolicyEvaluation): boolean {
  return errors.length === 0 && action !== PROTECTED_ACTION;
}

interface RedactedRequest {
  /** Without secrets. */
  readonly recorded: EncodedPolicyRequest;
  /** With secrets; undefined if that makes no difference. */
  readonly unredacted: PolicyRequest | undefined;
}

/**
 * Creates a policy request.
 *
 * SECURITY: policy requests are stored so that they can be evaluated again, so they must contain no secret.
 */
function createRedactedRequest(asked: PolicyInput, about: PolicyCheck, kernel: KernelParts): RedactedRequest {
  const question = createPolicyRequest(asked, about, kernel.policy);
  const hidden = redactorsForRecord(asked, kernel);
  const isInFacts = holdsSecret(question.bytes, hidden);
  if (!isInFacts && asked.recordedInput === asked.input) return { recorded: question, unredacted: undefined };
  const { request: original } = createPolicyRequest({ ...asked, recordedInput: asked.input }, about, kernel.policy);
  if (!isInFacts) return { recorded: question, unredacted: original };
  const redact = (facts: JsonObject): JsonObject => {
    // Fact names are declared, and rules rely on them, so they are not redacted.
    const redacted = replaceTexts(
      facts,
      (text) => kernel.secrets.tagText(text, hidden),
      (name) => name,
    );
    return isJsonObject(redacted) ? redacted : {};
  };
  return { recorded: createPolicyRequest({ ...asked, redact }, about, kernel.policy), unredacted: original };
}

/** SECURITY: a call for which no policy request can be created is denied, as after any other policy error. */
function denyOnPolicyError(ask: () => RedactedRequest): RedactedRequest | Denied {
  try {
    return ask();
  } catch (fault) {
    if (!isKernelError(fault) || fault.code !== "POLICY_ERROR") throw fault;
    return new Denied("POLICY_ERROR", "kernel:decide", `policy could not be asked, so it denies: ${fault.message}`);
  }
}
