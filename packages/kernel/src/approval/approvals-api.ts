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

/** The desk at which people are asked: every door answers here, and the first answer counts. */
export interface Approvals {
  /** Whether anyone may ever answer such a question. */
  isAvailable(kind: ApprovalKind): boolean;
  /** Says that people can reach the desk from outside this process; gives the closing of that door. */
  openDoor(): () => void;

  /** Returns an approval that was granted before: while no caller waited, or for the session. */
  claimApproval(subject: ApprovalSubject): ApprovalOutcome | undefined;
  /** Resolves when a rule that a user gave for such a call is in force; undefined if none is pending. */
  findPendingRule(subject: ApprovalSubject): Promise<void> | undefined;
  /**
   * A caller who was told `pending` and repeats the same call joins the request that is already open. Undefined
   * if no user can be asked: no door is open for it, or too many requests are.
   */
  ask(subject: ApprovalSubject, wait: ApprovalWait): Promise<ApprovalOutcome | undefined>;
  /** Proves, when the call is about to run, that its yes is a yes to exactly this. */
  consume(approvalId: string, subject: ApprovalSubject): boolean;
  /** Uses a yes up: the row goes with the record that starts the call. */
  removeConsumed(approvalId: string): StateChange;
  /** A call that had a yes has ended. One it proved and did not use is good for the same call again; else it is void. */
  release(approvalId: string): Promise<void>;

  list(): ApprovalList;
  watch(signal: AbortSignal): AsyncIterable<ApprovalList>;
  resolve(resolution: ApprovalResolution): Promise<ResolvedApproval>;
  /** Records that a client answered by itself, and tells people of it. */
  decline(decline: ApprovalDecline): Promise<void>;
  revoke(revocation: ApprovalRevocation): Promise<StandingApproval>;

  /** After a start: takes up what was answered, and withdraws what was not. */
  recover(store: Pick<Store, "listState">): Promise<void>;
  /** Withdraws what a session asked, forgets what was said for it, and gives the rows that go with its end. */
  endSession(sessionId: string): Promise<StateChange[]>;
  /** Removes approvals of these inputs, given as hex, one-time and standing; returns the removed rows. */
  forgetInputs(inputDigests: ReadonlySet<string>, by: string): Promise<StateChange[]>;
  close(): Promise<void>;
}
