/** What `narthex policy explain` and `narthex policy recheck` tell. */

import type { JsonValue } from "@narthex/contracts";

/** A call that somebody would like to make. */
export interface ExplainRequest {
  readonly tool: string;
  /** The newest one by default. */
  readonly version?: string;
  readonly input: JsonValue;
  /** Whose lease, labels and budget count. Without, those of a new session on no workspace in particular. */
  readonly sessionId?: string;
}

/** Nothing is recorded and nothing runs: what would be said of the call if it came now. */
export interface CallExplanation {
  readonly answer: "allow" | "ask" | "deny";
  /** Empty if it is allowed. */
  readonly code: string;
  readonly message: string;
  /** What stands in the way before any rule is asked: lease, capability, tier, budget. */
  readonly missing: readonly MissingRight[];
  /** What policy is asked: one for each path, host and protected path. */
  readonly questions: readonly ExplainedCheck[];
}

export interface MissingRight {
  /** LEASE_SCOPE, CAPABILITY_MISSING, ... */
  readonly code: string;
  readonly message: string;
}

export interface ExplainedCheck {
  readonly action: string;
  /** Empty where the tool works on none. */
  readonly path: string;
  readonly host: string;
  readonly allowed: boolean;
  readonly approve: "none" | "human" | "console";
  /** The `@approve("always")` rules that ask whatever else permits the call. */
  readonly always: readonly string[];
  readonly rules: readonly RuleFinding[];
}

/** What one rule had to say about a request. */
export interface RuleFinding {
  readonly id: string;
  readonly effect: "permit" | "forbid";
  /** `almost`: its scope fits, and these of its conditions do not. */
  readonly verdict: "matched" | "almost" | "error";
  /** Cedar text of the conditions that failed, or the error. */
  readonly because: readonly string[];
  /** The same in words: which value of the call each condition turns down. */
  readonly unmet?: readonly string[];
  readonly file: string;
  readonly line: number;
}

/** All that a proof speaks of, as it was stored. */
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

/** What came out when a decision was made again. */
export interface Recheck {
  /** The proof is the same, byte for byte. */
  readonly same: boolean;
  /** Where it is not: what differs, one line each. */
  readonly differences: readonly string[];
  /** What made the decision. */
  readonly engine: string;
  /** What made it again; empty if the parts do not belong together, so that nothing was evaluated. */
  readonly checkedBy: string;
}
