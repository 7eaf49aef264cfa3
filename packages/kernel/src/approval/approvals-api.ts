import type { StateChange, Store } from "../ports.ts";
import type {
  ApprovalDecline,
  ApprovalKind,
  ApprovalList,
  ApprovalResolution,
  ApprovalRevocation,
  ResolvedApproval,
  StandingApproval,
} from "./approval.ts";
import type { ApprovalOutcome } from "./approval-outcome.ts";
import type { ApprovalSubject } from "./approval-subject.ts";
import type { ApprovalWait } from "./approval-wait.ts";

/** Approval requests and decisions of a kernel. Users may decide at any door, and the first decision counts. */
export interface Approvals {
  /** Whether a request of this kind can be decided at all. */
  isAvailable(kind: ApprovalKind): boolean;
  /** Declares that users can decide from outside this process; returns a function that closes that door. */
  openDoor(): () => void;

  /** Claims an approval that was granted before: while no caller waited, or for the session. */
  claimApproval(subject: ApprovalSubject): ApprovalOutcome | undefined;
  /** Resolves when a rule that a user gave for such a call is in force; undefined if none is pending. */
  findPendingRule(subject: ApprovalSubject): Promise<void> | undefined;
  /**
   * Asks for a decision. A caller that was told `pending` and repeats the same call joins the request that is already
   * open. Undefined if no user can be asked: no door is open for it, or too many requests are open.
   */
  ask(subject: ApprovalSubject, wait: ApprovalWait): Promise<ApprovalOutcome | undefined>;
  /** Verifies, when the call is about to run, that its approval is for exactly this subject. */
  consume(approvalId: string, subject: ApprovalSubject): boolean;
  /** Uses up an approval; the returned change removes its row in the same write as the record that starts the call. */
  removeConsumed(approvalId: string): StateChange;
  /**
   * Releases the approval of a call that has ended. An approval that was verified and not used is available again for
   * the same call; any other is void.
   */
  release(approvalId: string): Promise<void>;

  list(): ApprovalList;
  watch(signal: AbortSignal): AsyncIterable<ApprovalList>;
  resolve(resolution: ApprovalResolution): Promise<ResolvedApproval>;
  /** Records that a client responded without a user, and shows this to users. */
  decline(decline: ApprovalDecline): Promise<void>;
  revoke(revocation: ApprovalRevocation): Promise<StandingApproval>;

  /** Restores granted approvals after a start, and withdraws requests without a decision. */
  recover(store: Pick<Store, "listState">): Promise<void>;
  /** Withdraws a session's requests, forgets its approvals, and returns the rows to remove when it ends. */
  endSession(sessionId: string): Promise<StateChange[]>;
  /**
   * Revokes standing approvals and removes one-time approvals of these inputs, given as hex; returns the changes that
   * delete the rows of the one-time ones.
   */
  forgetInputs(inputDigests: ReadonlySet<string>, by: string): Promise<StateChange[]>;
  close(): Promise<void>;
}
