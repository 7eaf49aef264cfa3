import type { Stage } from "../ports.ts";

/** Why what came out may be something else than what was recorded. */
export type DivergenceCause = "tool_changed" | "policy_changed" | "content_erased" | "not_deterministic";

/** A call that came out otherwise than it was recorded. */
export interface Divergence {
  readonly recordIndex: number;
  readonly requestId: string;
  /** `name@version`. */
  readonly tool: string;
  readonly stage: Stage;
  /** Hex; empty where there is none: content that was erased, a tool that is not here. */
  readonly expectedHash: string;
  readonly foundHash: string;
  readonly cause: DivergenceCause;
  readonly message: string;
}

/** Why a call was taken from its record instead of being run again. */
export type ServedReason =
  /** It is external or nondeterministic. */
  | "determinism"
  /** It asked what was in a directory, or what was there at all. */
  | "listing"
  /** It works on what its record does not hold: programs in the workspace, artifacts, the vault, other hosts. */
  | "programs"
  | "artifacts"
  | "vault"
  | "network"
  | "shell"
  | "pages"
  /** What it read was too large to be kept, or was recorded before that was kept. */
  | "not_kept"
  /** What it read is secret and was left out of the bundle. */
  | "left_out"
  /** A secret was taken out of what is recorded of it. */
  | "redacted"
  /** It was stopped from outside: its time, its budget, whoever asked for it. */
  | "interrupted"
  /** It failed on files: what it found there is not recorded. */
  | "failed_on_files"
  /** Its outcome was found out after a crash. */
  | "settled"
  /** There is no sandbox here that could run its program. */
  | "no_sandbox";

/** What became of one call. */
export type CallFinding =
  | { readonly kind: "same" }
  | { readonly kind: "served"; readonly reason: ServedReason }
  /** It never ran: its refusal was recorded. */
  | { readonly kind: "refused" }
  | { readonly kind: "diverged"; readonly divergence: Divergence };

/** What a replay of one session came to. */
export interface ReplayReport {
  readonly sessionId: string;
  /** No call and no decision came out otherwise. */
  readonly clean: boolean;
  readonly calls: number;
  /** Run again, with the same result. */
  readonly ran: number;
  readonly served: number;
  readonly refused: number;
  /** Requests that were answered from an earlier record. */
  readonly repeated: number;
  /** Without an outcome. */
  readonly open: number;
  /** Decisions that were made again. */
  readonly decisions: number;
  readonly divergenceCount: number;
  /** The first of them, at most a hundred. */
  readonly divergences: readonly Divergence[];
  readonly servedBy: ReadonlyMap<ServedReason, number>;
  /** Undefined where what it is made of was erased. */
  readonly contentDigest: Uint8Array | undefined;
}
