import type { TreeReport } from "./merkle/tree-report.ts";
import type { ProblemArea, VerifyProblem } from "./problem.ts";

export interface VerifyReport {
  /** Nothing that is there was changed. */
  readonly intact: boolean;
  /** Nothing is missing between the first record and the last. */
  readonly complete: boolean;
  readonly records: number;
  readonly chains: number;
  readonly contentItems: number;
  readonly erasedItems: number;
  /** Proofs of decisions that were read. */
  readonly proofs: number;
  /** Items of which a bundle holds the digest only. */
  readonly leftOutItems: number;
  /** Calls without an outcome so far: running, waiting, or cut off by a crash. */
  readonly openCalls: number;
  /** Those of them that were started with leave to have effects. */
  readonly openIntents: number;
  /** Records after the last proven checkpoint: a dropped tail of them cannot be seen. */
  readonly unprovenTail: number;
  /** What signed checkpoints prove. */
  readonly log: TreeReport;
  /** What has problems, also those not listed. */
  readonly areas: readonly ProblemArea[];
  /** In the order of the records, at most 100. */
  readonly problems: readonly VerifyProblem[];
  /** Also those not listed. */
  readonly problemCount: number;
  /** Hash of the last record; empty if there is none. */
  readonly headHash: Uint8Array;
  /** What was not read, because an earlier run had read it. */
  readonly before?: VerifiedBefore;
  /** What a later run can go on from, where it was asked for and nothing is wrong. */
  readonly verified?: Uint8Array;
  /** Content was left out: nothing is known of it. */
  readonly recordsOnly?: boolean;
  /** Why there is no such thing although it was asked for. */
  readonly notRemembered?: string;
}

export interface VerifiedBefore {
  readonly records: number;
  /** Of the newest checkpoint that covered them then. */
  readonly checkpointSize: number;
  readonly checkpointRoot: Uint8Array;
  readonly verifiedAtMs: number;
}
