import { blake3, ContentRole } from "@narthex/contracts";
import { commitContent } from "../../ledger/commitment.ts";
import { approvalDemand } from "../../policy/approval-demand.ts";
import { createProof } from "../../policy/proof.ts";
import type { PolicyAnswer } from "../../policy/policy.ts";
import type { NarrowedTool } from "../../tool/narrow-for.ts";
import type { CheckedCall, DecidedCall } from "../call.ts";
import { Denied } from "../ending.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { policyQuestion } from "../../policy/policy-question.ts";

/** Asks policy and seals its answer in a proof. Nothing matched means denied, and so does any error. */
export function askPolicy(
  call: CheckedCall,
  facts: NarrowedTool,
  kernel: KernelParts,
): Pick<DecidedCall, "policyAnswer" | "policyHash" | "approval"> | Denied {
  const current = kernel.policy.current;
  if ("problem" in current) {
    call.trail.add({ case: "policyDecision", value: { allowed: false, rationaleCode: "POLICY_MISSING" } });
    return new Denied("POLICY_MISSING", "kernel:decide", `no policy is in force: ${current.problem}`);
  }
  const { request, bytes: requestBytes } = policyQuestion(call.live, call.registered, facts, call.inputDigest);
  const requestHash = blake3(requestBytes);
  const answer = kernel.policy.evaluate(request);
  const code = rationale(answer);
  const approve = code === undefined ? approvalDemand(answer.rules, facts.tier) : "none";
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
    },
  });
  if (code !== undefined) return denial(facts.action, answer, code);
  return { policyAnswer: answer, policyHash: current.hash, approval: approve };
}

function rationale(answer: PolicyAnswer): string | undefined {
  if (answer.errors.length > 0) return "POLICY_ERROR";
  if (answer.allowed) return undefined;
  return answer.rules[0]?.rationale ?? (answer.rules.length > 0 ? "POLICY_DENIED" : "NO_MATCHING_RULE");
}

function denial(action: string, answer: PolicyAnswer, code: string): Denied {
  const rule = answer.rules[0];
  const tool = `\`${action}\``;
  if (answer.errors.length > 0) {
    return new Denied(
      code,
      rule?.id ?? "kernel:decide",
      `policy could not be evaluated, so it denies: ${answer.errors[0]}`,
    );
  }
  if (rule !== undefined) return new Denied(code, rule.id, rule.message ?? `rule \`${rule.id}\` forbids ${tool}`);
  return new Denied(code, "kernel:decide", `no rule permits ${tool}; add one to the policy directory`);
}
