import { blake3, equalBytes, fromBinary, KernelError, type Proof, ProofSchema, toHex } from "@narthex/contracts";
import { SAFETY_TIERS } from "../tool/tool.ts";
import { toApprovalRequirement } from "./approval-requirement.ts";
import type { CedarEngine, CedarPolicy } from "./cedar/cedar.ts";
import { cedarRequest, entitiesOf } from "./cedar-request.ts";
import { createPolicy } from "./create-policy.ts";
import type { Recheck, StoredDecision } from "./explain.ts";
import type { Policy } from "../ports.ts";
import type { PolicyRule } from "./policy.ts";
import { createProof } from "./proof.ts";
import { toPolicyRefusal } from "./policy-refusal.ts";
import { parseStoredJson, readStoredPolicyRequest, type StoredPolicyRequest } from "./stored-policy-request.ts";
import type { PolicySchema } from "./schema/read-policy-schema.ts";

/** A stored policy set, parsed again, and an engine that evaluates it. */
export interface RecheckPolicy {
  readonly rules: readonly PolicyRule[];
  readonly policies: readonly CedarPolicy[];
  readonly schema: PolicySchema;
  readonly engine: CedarEngine;
}

/**
 * Re-evaluates a stored decision and compares the proofs byte for byte. Loads the stored set only if the proof names
 * it.
 */
export async function recheckDecision(stored: StoredDecision, load: () => Promise<RecheckPolicy>): Promise<Recheck> {
  const before = decodeProof(stored.proof);
  const question = readStoredPolicyRequest(stored.request);
  const unlike = unlikeHashes(stored, before, question.call.input_digest);
  if (unlike.length > 0) return { same: false, differences: unlike, engine: before.engine, checkedBy: "" };
  const policy = await load();
  const after = recomputeProofBytes(stored, before, question, prepareRecheck(policy, stored));
  const same = equalBytes(after, stored.proof);
  const differences = same ? [] : unlikeFields(before, decodeProof(after));
  return { same, differences, engine: before.engine, checkedBy: policy.engine.name };
}

/** A stored set prepared for re-evaluation, because one set usually has many decisions. */
export interface PreparedRecheck {
  readonly policy: Policy;
  readonly schema: PolicySchema;
  readonly policySet: Uint8Array;
  readonly schemaBytes: Uint8Array;
  readonly ruleCount: number;
}

/** The parts of a stored decision other than the policy set and schema. */
export type ProvenRequest = Pick<StoredDecision, "proof" | "request" | "input">;

export function prepareRecheck(
  { rules, policies, schema, engine }: RecheckPolicy,
  stored: Pick<StoredDecision, "policySet" | "schema">,
): PreparedRecheck {
  const set = {
    hash: blake3(stored.policySet),
    schemaHash: blake3(stored.schema),
    engine: engine.name,
    fallback: "",
    ruleCount: rules.length,
    warnings: [],
    bytes: stored.policySet,
    schemaBytes: stored.schema,
  };
  const policy = createPolicy({ set, rules, policies, schema, engine, explain: async () => [] });
  return { policy, schema, policySet: stored.policySet, schemaBytes: stored.schema, ruleCount: rules.length };
}

/**
 * The recomputed proof, and how it differs from the stored one. The caller ensures that the proof names this policy set
 * and schema; this function checks the hashes of the request and the input.
 */
export function recomputeProof(
  stored: ProvenRequest,
  prepared: PreparedRecheck,
): { readonly proof: Uint8Array; readonly differences: readonly string[] } {
  const before = decodeProof(stored.proof);
  const question = readStoredPolicyRequest(stored.request);
  const unlike = unlikeParts([
    ["request", stored.request, toHex(before.requestHash)],
    ["input", stored.input, question.call.input_digest],
  ]);
  const proof = recomputeProofBytes(stored, before, question, prepared);
  const differences = equalBytes(proof, stored.proof) ? [] : unlikeFields(before, decodeProof(proof));
  return { proof, differences: [...unlike, ...differences] };
}

export function decodeProof(bytes: Uint8Array): Proof {
  try {
    return fromBinary(ProofSchema, bytes);
  } catch (cause) {
    throw new KernelError("INVALID_INPUT", "these bytes are no proof of a decision", { cause });
  }
}

/** SECURITY: a bundle may come from an untrusted source, so the hash of each part must match the proof. */
function unlikeHashes(stored: StoredDecision, proof: Proof, inputDigest: string): string[] {
  return unlikeParts([
    ["policy set", stored.policySet, toHex(proof.policyHash)],
    ["schema", stored.schema, toHex(proof.schemaHash)],
    ["request", stored.request, toHex(proof.requestHash)],
    ["input", stored.input, inputDigest],
  ]);
}

function unlikeParts(parts: readonly (readonly [string, Uint8Array, string])[]): string[] {
  return parts
    .map(([name, bytes, expected]) => ({ name, found: toHex(blake3(bytes)), expected }))
    .filter(({ found, expected }) => found !== expected)
    .map(({ name, found, expected }) => `the ${name} is ${found}, the decision was made on ${expected}`);
}

function recomputeProofBytes(
  stored: ProvenRequest,
  before: Proof,
  { call, form }: StoredPolicyRequest,
  { policy, schema, policySet, schemaBytes, ruleCount }: PreparedRecheck,
): Uint8Array {
  const set = {
    hash: before.policyHash,
    schemaHash: before.schemaHash,
    // The engine that made the decision is part of the proof; the one that re-evaluates it is reported separately.
    engine: before.engine,
    fallback: "",
    ruleCount,
    warnings: [],
    bytes: policySet,
    schemaBytes,
  };
  const input = schema.visibleInput(form.action, parseStoredJson(stored.input, "input"));
  const request = cedarRequest(form, entitiesOf(form), call, input);
  const answer = policy.evaluate(request);
  const refusal = toPolicyRefusal({ action: form.action }, answer);
  const tier = SAFETY_TIERS.find((known) => known === form.tier) ?? "privileged";
  const { approve } = toApprovalRequirement(answer, refusal, tier);
  return createProof({
    evaluation: answer,
    set,
    requestHash: before.requestHash,
    approve,
    rationaleCode: refusal?.code ?? "",
  }).bytes;
}

function unlikeFields(before: Proof, after: Proof): string[] {
  const fields = ["allowed", "ruleIds", "rationaleCode", "approve", "errors"] as const;
  const unlike = fields.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  if (unlike.length === 0) return ["the proof is written in another way than it should be"];
  return unlike.map((name) => `${name}: was ${JSON.stringify(before[name])}, is ${JSON.stringify(after[name])}`);
}
