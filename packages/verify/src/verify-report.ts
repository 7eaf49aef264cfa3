import type { TreeReport } from "./merkle/tree-report.ts";
import type { ProblemArea, VerifyProblem } from "./problem.ts";

export interface VerifyReport {
  /** No stored data was changed. */
  readonly intact: boolean;
  /** Nothing is missing between the first record and the last. */
  readonly complete: boolean;
  readonly records: number;
  readonly chains: number;
  readonly contentItems: number;
  readonly erasedItems: number;
  /** Number of proofs of decisions that were checked. */
  readonly proofs: number;
  /** Number of items of which a bundle has only the digest. */
  readonly leftOutItems: number;
  /** Number of calls without an outcome so far: running, waiting, or interrupted by a crash. */
  readonly openCalls: number;
  /** Number of those that were started with permission to have effects. */
  readonly openIntents: number;
  /**
   * Number of records after the last proven checkpoint: if some of these are dropped from the end, that cannot be
   * detected.
   */
  readonly unprovenTail: number;
  /** What signed checkpoints prove. */
  readonly log: TreeReport;
  /** The areas with problems, including problems not listed. */
  readonly areas: readonly ProblemArea[];
  /** In the order of the records, at most 100. */
  readonly problems: readonly VerifyProblem[];
  /** Including problems not listed. */
  readonly problemCount: number;
  /** Hash of the last record; empty without records. */
  readonly headHash: Uint8Array;
  /** What was not read, because an earlier run had read it. */
  readonly before?: VerifiedBefore;
  /** The state for a later run to continue from, if it was requested and there are no problems. */
  readonly verified?: Uint8Array;
  /** Content was not checked. */
  readonly recordsOnly?: boolean;
  /** Why `verified` is missing although it was requested. */
  readonly notRemembered?: string;
}

export interface VerifiedBefore {
  readonly records: number;
  /** Size of the newest checkpoint that covered these records then. */
  readonly checkpointSize: number;
  readonly checkpointRoot: Uint8Array;
  readonly verifiedAtMs: number;
}
