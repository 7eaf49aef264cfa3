import { ContentPlace, ContentRole } from "@narthex/contracts";
import type { RowHashes } from "./hash/batch-hasher.ts";
import {
  type DecodedItem,
  type DecodedProof,
  type DecodedRecord,
  decodeProof,
  type EntryOf,
} from "./ledger-messages.ts";
import type { ProblemList } from "./problem-list.ts";
import { Malformed } from "./wire/decode-canonical.ts";
import { sameSlices, type Slice } from "./wire/slice.ts";

type Decision = EntryOf<"policyDecision">;

/**
 * Checks that the proofs of decisions stored with their record match the decisions and the stored policy request.
 * Returns how many do. Missing and malformed proofs are reported by the checks of commitments.
 */
export function checkProofs(
  record: DecodedRecord,
  items: readonly DecodedItem[],
  hashes: RowHashes,
  problems: ProblemList,
): number {
  let count = 0;
  for (const { kind } of record.entries) {
    if (kind.case !== "policyDecision" || kind.value.proofCommitment.length === 0) continue;
    const item = itemFor(ContentRole.PROOF, kind.value.proofCommitment, items, hashes);
    if (item?.place !== ContentPlace.ROW) continue;
    const proof = decodeProof(item.data);
    if (proof instanceof Malformed) continue;
    count++;
    const question = itemFor(ContentRole.POLICY_REQUEST, kind.value.policyRequestCommitment, items, hashes);
    const wrong = contradiction(kind.value, proof, question);
    if (wrong !== undefined) problems.add("proof_contradicts", record, `the proof of a decision ${wrong}`);
  }
  return count;
}

function itemFor(
  role: ContentRole,
  commitment: Slice,
  items: readonly DecodedItem[],
  hashes: RowHashes,
): DecodedItem | undefined {
  return items.find((item, i) => item.role === role && sameSlices(hashes.commitment(i), commitment));
}

function contradiction(decision: Decision, proof: DecodedProof, question: DecodedItem | undefined): string | undefined {
  if (proof.allowed !== decision.allowed) return "has another answer";
  if (proof.allowed && proof.errors.length > 0) return "allows what could not be evaluated";
  if (!sameTexts(proof.ruleIds, decision.ruleIds)) return "names other rules";
  if (!sameSlices(proof.policyHash, decision.policyHash)) return "is about another policy";
  if (proof.approve !== decision.approve || proof.rationaleCode !== decision.rationaleCode)
    return "gives another reason";
  if (question !== undefined && !sameSlices(proof.requestHash, question.digest)) return "answers another question";
  return undefined;
}

function sameTexts(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((text, i) => text === right[i]);
}
