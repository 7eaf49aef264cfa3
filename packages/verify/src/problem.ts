/** Integrity: something is not as it was written. Completeness: something that was written is not there. */
export type ProblemKind = "integrity" | "completeness";

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
  checkpoint_broken: "integrity",
  checkpoint_signature: "integrity",
  checkpoint_root: "integrity",
  log_key_broken: "integrity",
  log_key_untrusted: "integrity",
  log_contradicts: "integrity",
  log_forked: "integrity",
  log_rolled_back: "completeness",
  tile_contradicts: "integrity",
} as const satisfies { readonly [code: string]: ProblemKind };

export type ProblemCode = keyof typeof PROBLEM_KINDS;

export interface VerifyProblem {
  /** The bad record, or the first one that is missing. */
  readonly recordIndex: number;
  /** Empty where it cannot be told. */
  readonly chain: string;
  readonly kind: ProblemKind;
  readonly code: ProblemCode;
  readonly message: string;
}
