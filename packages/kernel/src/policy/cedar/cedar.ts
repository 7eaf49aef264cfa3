import type { JsonObject } from "@narthex/contracts";

/** An entity by its type and id: `Agent::"coder"`. */
export interface EntityName {
  readonly type: string;
  readonly id: string;
}

export interface CedarEntity {
  readonly uid: EntityName;
  readonly attrs: JsonObject;
  readonly parents: readonly EntityName[];
}

/**
 * What Cedar is asked. Attributes and context are plain JSON: a list is a set, a whole number a long, an object a record.
 * INVARIANT: no null, no fraction, no number beyond 2^53, and no text that means an entity or an extension value.
 */
export interface CedarRequest {
  readonly principal: EntityName;
  readonly action: EntityName;
  readonly resource: EntityName;
  readonly context: JsonObject;
  /** The principal, the resource and what they are in. */
  readonly entities: readonly CedarEntity[];
}

/** One rule, in Cedar's own JSON form. */
export interface CedarPolicy {
  readonly id: string;
  /** As cedar-wasm's `policyToJson` gives it. */
  readonly json: JsonObject;
}

export interface CedarError {
  /** The rule that could not be evaluated. */
  readonly rule: string;
  readonly message: string;
}

/** What Cedar answers, errors not yet taken for a no. */
export interface CedarDecision {
  readonly allowed: boolean;
  /** The rules that determined it, sorted. */
  readonly rules: readonly string[];
  /** Sorted by rule. */
  readonly errors: readonly CedarError[];
}

/** Something that evaluates one policy set. */
export interface CedarEngine {
  /** Named in proofs. */
  readonly name: string;
  evaluate(request: CedarRequest): CedarDecision;
}
