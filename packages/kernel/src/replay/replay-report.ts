import type { Stage } from "../ports.ts";

/** Why a replay may differ from the record. */
export type DivergenceCause = "tool_changed" | "policy_changed" | "content_erased" | "not_deterministic";

/** A call whose replay differs from its record. */
export interface Divergence {
  readonly recordIndex: number;
  readonly requestId: string;
  /** `name@version`. */
  readonly tool: string;
  readonly stage: Stage;
  /** Hex; empty if there is no hash: the content was erased, or the tool is not available here. */
  readonly expectedHash: string;
  readonly foundHash: string;
  readonly cause: DivergenceCause;
  readonly message: string;
}

/** Why a call was served from its record instead of running again. */
export type ServedReason =
  /** The tool is external or nondeterministic. */
  | "determinism"
  /** The call listed a directory or inspected a path. */
  | "listing"
  /** The call uses data that is not in its record: programs in the workspace, artifacts, the vault, other hosts. */
  | "programs"
  | "artifacts"
  | "vault"
  | "network"
  | "shell"
  | "pages"
  /** What the call read was too large to store, or was recorded by a version that did not store it yet. */
  | "not_kept"
  /** What the call read is secret and was left out of the bundle. */
  | "left_out"
  /** A secret was removed from the call's record. */
  | "redacted"
  /** The call was stopped from outside: by its time-out, its budget or its caller. */
  | "interrupted"
  /** The call failed while using files; the state of those files is not recorded. */
  | "failed_on_files"
  /** The outcome was determined after a crash. */
  | "settled"
  /** No sandbox is available here to run the program. */
  | "no_sandbox";

/** Outcome of replaying one call. */
export type CallFinding =
  | { readonly kind: "same" }
  | { readonly kind: "served"; readonly reason: ServedReason }
  /** The call never ran; its refusal was recorded. */
  | { readonly kind: "refused" }
  | { readonly kind: "diverged"; readonly divergence: Divergence };

/** Outcome of replaying one session. */
export interface ReplayReport {
  readonly sessionId: string;
  /** No call and no decision differs from the record. */
  readonly clean: boolean;
  readonly calls: number;
  /** Calls that ran again with the same result. */
  readonly ran: number;
  readonly served: number;
  readonly refused: number;
  /** Requests that got the response of an earlier record. */
  readonly repeated: number;
  /** Calls without an outcome. */
  readonly open: number;
  /** Number of reproduced decisions. */
  readonly decisions: number;
  readonly divergenceCount: number;
  /** The first divergences, at most a hundred. */
  readonly divergences: readonly Divergence[];
  readonly servedBy: ReadonlyMap<ServedReason, number>;
  /** Undefined if content that it is computed from was erased. */
  readonly contentDigest: Uint8Array | undefined;
}
