import {
  blake3,
  ContentRole,
  equalBytes,
  isKernelError,
  type PolicyDecision,
  type Proof,
  toHex,
} from "@narthex/contracts";
import { decodeProof } from "../policy/recheck-decision.ts";
import { describeFault } from "../result/describe-fault.ts";
import { type MissingContent, readItem, readWhole } from "./recorded-content.ts";
import type { RecordedCall } from "./recorded-call.ts";
import type { ReplayPorts } from "./replay-ports.ts";
import type { Divergence } from "./replay-report.ts";
import type { ReplaySource } from "./replay-source.ts";

/** Outcome of reproducing the decisions of a call. */
export interface ReplayedDecisions {
  readonly made: number;
  readonly divergence: Divergence | undefined;
}

/** Reproduces every decision of a call from its proof, by the rules that were in force at the time. */
export async function replayDecisions(
  call: RecordedCall,
  ports: ReplayPorts,
  source: ReplaySource,
): Promise<ReplayedDecisions> {
  let made = 0;
  for (const { index, decision } of call.decisions) {
    if (decision.proofCommitment.length === 0) continue;
    const found = await remake(call, decision, ports, source);
    if (found === "left_out") continue;
    made++;
    if (found === undefined) continue;
    const divergence: Divergence = {
      recordIndex: index,
      requestId: call.requestId,
      tool: call.tool,
      stage: "decide",
      ...found,
    };
    return { made, divergence };
  }
  return { made, divergence: undefined };
}

type Difference = Pick<Divergence, "expectedHash" | "foundHash" | "cause" | "message">;

async function remake(
  call: RecordedCall,
  decision: PolicyDecision,
  ports: ReplayPorts,
  source: ReplaySource,
): Promise<Difference | "left_out" | undefined> {
  const proof = await readItem(call.open(ContentRole.PROOF, decision.proofCommitment), source);
  if (typeof proof === "string") return gone(proof, "the proof of the decision");
  const before = decodeProof(proof);
  const unlike = unlikeProof(decision, before);
  if (unlike !== undefined) return changed(proof, undefined, `the entry and its proof differ in ${unlike}`);
  // If no policy was in force, no rule was evaluated, and the call was denied.
  if (before.policyHash.length === 0 && !before.allowed) return undefined;
  const request = await readItem(call.open(ContentRole.POLICY_REQUEST, decision.policyRequestCommitment), source);
  if (typeof request === "string") return gone(request, "what policy was asked");
  const input = await readItem(call.open(ContentRole.INPUT, call.invoked.inputCommitment), source);
  if (typeof input === "string") return gone(input, "the input that was decided on");
  try {
    const again = await ports.recheck({ proof, request, input }, (digest) => readContent(digest, source));
    if (again.kind === "gone") return gone("erased", `the rules ${toHex(again.digest)}`);
    const isSame = again.differences.length === 0 && equalBytes(again.proof, proof);
    return isSame ? undefined : changed(proof, again.proof, again.differences.join("; "));
  } catch (fault) {
    if (!isKernelError(fault)) throw fault;
    return changed(proof, undefined, describeFault(fault));
  }
}

async function readContent(digest: Uint8Array, source: ReplaySource): Promise<Uint8Array | undefined> {
  const found = await source.findContent(digest);
  return found && (await readWhole(found));
}

/** Names the part of the entry that differs from its proof; undefined if none does. */
function unlikeProof(decision: PolicyDecision, proof: Proof): string | undefined {
  if (decision.allowed !== proof.allowed) return "the answer";
  if (!equalBytes(decision.policyHash, proof.policyHash)) return "the policy";
  if (decision.ruleIds.join("\n") !== proof.ruleIds.join("\n")) return "the rules";
  if (decision.approve !== proof.approve) return "who is asked";
  return decision.rationaleCode === proof.rationaleCode ? undefined : "the reason";
}

function gone(how: MissingContent, what: string): Difference | "left_out" {
  if (how === "left_out") return "left_out";
  const message = `${what} was erased: the decision cannot be made again`;
  return { expectedHash: "", foundHash: "", cause: "content_erased", message };
}

function changed(proof: Uint8Array, again: Uint8Array | undefined, message: string): Difference {
  const foundHash = again === undefined ? "" : toHex(blake3(again));
  return { expectedHash: toHex(blake3(proof)), foundHash, cause: "policy_changed", message };
}
