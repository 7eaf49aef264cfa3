/** Integrity: something has changed since it was written. Completeness: something that was written is missing. */
export type ProblemKind = "integrity" | "completeness";

/** The part of the ledger that has the problem. */
export type ProblemArea = "records" | "content" | "commitments" | "proofs" | "log" | "signatures";

/** SPEC: docs/formats/ledger.md, "What verify finds". */
export const PROBLEM_KINDS = {
  unreadable: "integrity",
  record_malformed: "integrity",
  hash_mismatch: "integrity",
  column_mismatch: "integrity",
  index_gap: "completeness",
  index_repeated: "integrity",
  sequence_gap: "completeness",
  sequence_repeated: "integrity",
  chain_broken: "integrity",
  wall_time_back: "integrity",
  logical_time_back: "integrity",
  session_order: "integrity",
  call_order: "integrity",
  call_unopened: "completeness",
  outcome_contradicts: "integrity",
  approval_missing: "integrity",
  content_malformed: "integrity",
  content_contradicts: "integrity",
  content_unclaimed: "integrity",
  content_damaged: "integrity",
  content_missing: "completeness",
  commitment_unopened: "completeness",
  erasure_contradicts: "integrity",
  proof_contradicts: "integrity",
  checkpoint_broken: "integrity",
  checkpoint_signature: "integrity",
  checkpoint_root: "integrity",
  log_key_broken: "integrity",
  log_key_untrusted: "integrity",
  log_key_lost: "integrity",
  log_contradicts: "integrity",
  log_forked: "integrity",
  log_rolled_back: "completeness",
  tile_contradicts: "integrity",
  bundle_damaged: "integrity",
} as const satisfies { readonly [code: string]: ProblemKind };

export const PROBLEM_AREAS: { readonly [Code in ProblemCode]: ProblemArea } = {
  unreadable: "records",
  record_malformed: "records",
  hash_mismatch: "records",
  column_mismatch: "records",
  index_gap: "records",
  index_repeated: "records",
  sequence_gap: "records",
  sequence_repeated: "records",
  chain_broken: "records",
  wall_time_back: "records",
  logical_time_back: "records",
  session_order: "records",
  call_order: "records",
  call_unopened: "records",
  outcome_contradicts: "records",
  approval_missing: "records",
  content_malformed: "content",
  content_contradicts: "content",
  content_unclaimed: "commitments",
  content_damaged: "content",
  content_missing: "content",
  commitment_unopened: "commitments",
  erasure_contradicts: "content",
  proof_contradicts: "proofs",
  checkpoint_broken: "log",
  checkpoint_signature: "signatures",
  checkpoint_root: "log",
  log_key_broken: "signatures",
  log_key_untrusted: "signatures",
  log_key_lost: "signatures",
  log_contradicts: "log",
  log_forked: "log",
  log_rolled_back: "log",
  tile_contradicts: "log",
  bundle_damaged: "records",
};

export type ProblemCode = keyof typeof PROBLEM_KINDS;

export interface VerifyProblem {
  /** The bad record, or the first missing one. */
  readonly recordIndex: number;
  /** Empty if it is unknown. */
  readonly chain: string;
  readonly kind: ProblemKind;
  readonly area: ProblemArea;
  readonly code: ProblemCode;
  readonly message: string;
}
