import type { JsonObject } from "@narthex/contracts";

/** The type and id of an entity: `Agent::"coder"`. */
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
 * A request to a Cedar engine. Attributes and context are plain JSON: a list is a set, a whole number a long, an object
 * a record.
 * INVARIANT: no null, no fraction, no number beyond 2^53, and no text that means an entity or an extension value.
 */
export interface CedarRequest {
  readonly principal: EntityName;
  readonly action: EntityName;
  readonly resource: EntityName;
  readonly context: JsonObject;
  /** The principal, the resource and their ancestors. */
  readonly entities: readonly CedarEntity[];
}

/** One rule in Cedar's own JSON form. */
export interface CedarPolicy {
  readonly id: string;
  /** The output of cedar-wasm's `policyToJson`. */
  readonly json: JsonObject;
}

export interface CedarError {
  /** Id of the rule that could not be evaluated. */
  readonly rule: string;
  readonly message: string;
}

/** Cedar's result for one request. Errors do not deny at this level; `createPolicy` makes them deny. */
export interface CedarDecision {
  readonly allowed: boolean;
  /** Ids of the rules that determined the decision, sorted. */
  readonly rules: readonly string[];
  /** Sorted by rule. */
  readonly errors: readonly CedarError[];
}

/** An engine that evaluates one policy set. */
export interface CedarEngine {
  /** Recorded in proofs. */
  readonly name: string;
  evaluate(request: CedarRequest): CedarDecision;
}
