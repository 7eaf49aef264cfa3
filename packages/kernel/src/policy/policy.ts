import type { CedarRequest } from "./cedar/cedar.ts";

/** A policy request. docs/formats/policy.md describes its contents. */
export type PolicyRequest = CedarRequest;

/** The value of a rule's `@approve`; `unstated` without it. */
export type ApproveAnnotation = "none" | "human" | "console" | "always" | "unstated";

/** A rule's id and annotations. */
export interface PolicyRule {
  readonly id: string;
  readonly approve: ApproveAnnotation;
  /** Ids of the `@approve("always")` rules that this one lifts for the calls it permits. */
  readonly overrides: readonly string[];
  readonly rationale: string | undefined;
  readonly message: string | undefined;
}

export interface PolicyEvaluation {
  readonly allowed: boolean;
  /** The rules that determined the decision, sorted by id. */
  readonly rules: readonly PolicyRule[];
  /** Any entry denies. */
  readonly errors: readonly PolicyError[];
}

/** A rule that could not be evaluated, or a request that is invalid for every rule. */
export interface PolicyError {
  /** Empty if the request itself is invalid. */
  readonly rule: string;
  /** For people. Wording differs between engines, so it is not part of a proof. */
  readonly message: string;
}

/** A loaded set: its files are content under `hash`, the schema they were validated against under `schemaHash`. */
export interface PolicySet {
  readonly hash: Uint8Array;
  readonly schemaHash: Uint8Array;
  readonly engine: string;
  /** Why the compiled evaluator is not used; empty if it is. */
  readonly fallback: string;
  readonly ruleCount: number;
  /** `file:line:column: message` for rules that do not have the effect they state. */
  readonly warnings: readonly string[];
  /** The canonical bytes that `hash` is computed from. */
  readonly bytes: Uint8Array;
  readonly schemaBytes: Uint8Array;
}
