import type { CedarRequest } from "./cedar/cedar.ts";

/** What policy is asked. docs/formats/policy.md says what is in it. */
export type PolicyRequest = CedarRequest;

/** What `@approve` says; `unstated` without it. */
export type ApproveAnnotation = "none" | "human" | "console" | "always" | "unstated";

/** What a rule's annotations say. */
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
  /** The rules that determined the answer, sorted by id. */
  readonly rules: readonly PolicyRule[];
  /** Any entry denies. */
  readonly errors: readonly PolicyError[];
}

/** A rule that could not be evaluated, or a request that no rule can be held against. */
export interface PolicyError {
  /** Empty for the request itself. */
  readonly rule: string;
  /** For people: engines say it differently, so it is no part of a proof. */
  readonly message: string;
}

/** A loaded set: its files are content under `hash`, the schema they were checked against under `schemaHash`. */
export interface PolicySet {
  readonly hash: Uint8Array;
  readonly schemaHash: Uint8Array;
  readonly engine: string;
  /** Why the compiled evaluator is not used; empty if it is. */
  readonly fallback: string;
  readonly ruleCount: number;
  /** `file:line:column: message` of rules that do not do what they say. */
  readonly warnings: readonly string[];
  /** The canonical bytes that `hash` is of. */
  readonly bytes: Uint8Array;
  readonly schemaBytes: Uint8Array;
}
