import { blake3, compileEncoder, HASH_SIZE, KernelError, type Proof, ProofSchema } from "@narthex/contracts";
import { isPermitted } from "./is-permitted.ts";
import type { PolicyEvaluation, PolicySet } from "./policy.ts";

export interface ProofFacts {
  readonly evaluation: PolicyEvaluation;
  /** Undefined if no policy is in force. */
  readonly set: PolicySet | undefined;
  /** BLAKE3 of the policy request's canonical JSON. */
  readonly requestHash: Uint8Array;
  readonly approve: "none" | "human" | "console";
  /** The denial code; empty if allowed. */
  readonly rationaleCode: string;
}

export interface EncodedProof {
  /** An encoded `Proof`. */
  readonly bytes: Uint8Array;
  /** BLAKE3 of the bytes. */
  readonly digest: Uint8Array;
}

const encodeProof = compileEncoder<Proof>(ProofSchema);

/** Encodes the proof of one decision. INVARIANT: the same facts produce the same bytes. */
export function createProof(facts: ProofFacts): EncodedProof {
  const { evaluation, set, requestHash } = facts;
  if (requestHash.length !== HASH_SIZE) {
    throw new KernelError("INTERNAL", `a request hash has ${HASH_SIZE} bytes, not ${requestHash.length}`);
  }
  const bytes = encodeProof({
    // Any evaluation error denies, whatever the rules decided.
    allowed: isPermitted(evaluation),
    ruleIds: evaluation.rules.map((rule) => rule.id),
    policyHash: set?.hash,
    schemaHash: set?.schemaHash,
    requestHash,
    engine: set?.engine,
    rationaleCode: facts.rationaleCode,
    approve: facts.approve,
    errors: evaluation.errors.map(({ rule }) => rule),
  });
  return { bytes, digest: blake3(bytes) };
}
