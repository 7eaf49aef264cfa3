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

  /** A yes that was given already: while nobody waited for it, or for the session. */
  findGiven(subject: ApprovalSubject): ApprovalOutcome | undefined;
  /** The rule that somebody gave for such a call, until it is in force; undefined if none is on its way. */
  ruleOnItsWay(subject: ApprovalSubject): Promise<void> | undefined;
  /**
   * A caller who was told `pending` and comes back with the same call joins the question that is already out. Undefined
   * if nobody is asked: there is no door for it, or too many questions are open.
   */
  ask(subject: ApprovalSubject, wait: ApprovalWait): Promise<ApprovalOutcome | undefined>;
  /** Proves, when the call is about to run, that its yes is a yes to exactly this. */
  redeem(approvalId: string, subject: ApprovalSubject): boolean;
  /** Uses a yes up: the row goes with the record that starts the call. */
  spend(approvalId: string): StateChange;
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
  /** Forgets yeses to these inputs, given as hex, and takes back what was said for longer about them; gives the rows that go. */
  forgetInputs(inputDigests: ReadonlySet<string>, by: string): Promise<StateChange[]>;
  close(): Promise<void>;
}
