/** Inputs and results of `narthex policy explain` and `narthex policy recheck`. */

import type { JsonValue } from "@narthex/contracts";

/** A hypothetical call. */
export interface ExplainRequest {
  readonly tool: string;
  /** The newest version by default. */
  readonly version?: string;
  readonly input: JsonValue;
  /** The session whose lease, labels and budget apply. By default a new session without a particular workspace. */
  readonly sessionId?: string;
}

/** How a call would be decided now. Nothing is recorded and nothing runs. */
export interface CallExplanation {
  readonly answer: "allow" | "ask" | "deny";
  /** Empty if it is allowed. */
  readonly code: string;
  readonly message: string;
  /** Violations found before any rule is evaluated: lease, capability, tier, budget. */
  readonly missing: readonly MissingRight[];
  /** The policy requests for the call: one for each path, host and protected path. */
  readonly questions: readonly ExplainedCheck[];
}

export interface MissingRight {
  /** LEASE_SCOPE, CAPABILITY_MISSING, ... */
  readonly code: string;
  readonly message: string;
}

export interface ExplainedCheck {
  readonly action: string;
  /** Empty if the tool does not work on files. */
  readonly path: string;
  readonly host: string;
  readonly allowed: boolean;
  readonly approve: "none" | "human" | "console";
  /** The `@approve("always")` rules that require an approval whatever else permits the call. */
  readonly always: readonly string[];
  readonly rules: readonly RuleFinding[];
}

/** How one rule relates to a request. */
export interface RuleFinding {
  readonly id: string;
  readonly effect: "permit" | "forbid";
  /** `almost`: its scope matches, but some of its conditions do not. */
  readonly verdict: "matched" | "almost" | "error";
  /** Cedar text of the conditions that failed, or the error. */
  readonly because: readonly string[];
  /** The failed conditions in plain language: the value of the call that each one rejects. */
  readonly unmet?: readonly string[];
  readonly file: string;
  readonly line: number;
}

/** A decision's proof with everything the proof refers to, as stored. */
export interface StoredDecision {
  /** An encoded `Proof`. */
  readonly proof: Uint8Array;
  /** Canonical JSON: `{"call": ..., "form": ...}`. */
  readonly request: Uint8Array;
  /** Canonical JSON. */
  readonly input: Uint8Array;
  /** Canonical JSON: `[{"name", "text"}]`. */
  readonly policySet: Uint8Array;
  /** Canonical JSON: Cedar's JSON schema form. */
  readonly schema: Uint8Array;
}

/** The result of re-evaluating a stored decision. */
export interface Recheck {
  /** The proof is the same, byte for byte. */
  readonly same: boolean;
  /** The differences, one line each; empty if the proof is the same. */
  readonly differences: readonly string[];
  /** The engine that made the decision. */
  readonly engine: string;
  /** The engine that re-evaluated it; empty if the parts do not belong together, so that nothing was evaluated. */
  readonly checkedBy: string;
}
