import type { JsonValue } from "@narthex/contracts";
import type { Effect, SafetyTier } from "../tool/tool.ts";

/** Who may decide: any user, or only a user at the console. */
export type ApprovalKind = "human" | "console";

/** The exact call that a user is asked to approve. */
export interface ApprovalRequest {
  readonly approvalId: string;
  readonly sessionId: string;
  /** The request id of the call that first asked for this approval. */
  readonly requestId: string;
  readonly tenant: string;
  readonly user: string;
  readonly agent: string;
  readonly workspace: string;
  /** `name@version` */
  readonly tool: string;
  /** Lower-case hex, as are the other digests. */
  readonly definitionHash: string;
  /** The whole input: never cut. */
  readonly input: JsonValue;
  readonly inputDigest: string;
  readonly policyHash: string;
  readonly ruleIds: readonly string[];
  /** Messages of the rules that ask. */
  readonly messages: readonly string[];
  /** Other facts a user should know, such as a changed file that was approved for the session. */
  readonly notes: readonly string[];
  /**
   * Rules that ask for every such call: a session approval is not offered, and an approval as a rule overrides them.
   */
  readonly always: readonly string[];
  /** `console` means that no other door may decide. */
  readonly kind: ApprovalKind;
  readonly safetyTier: SafetyTier;
  readonly effects: readonly Effect[];
  readonly labels: readonly string[];
  readonly requestedAtMs: number;
  readonly expiresAtMs: number;
  /** What a session approval would allow, described for users; empty where none is offered. */
  readonly sessionScope: string;
  /** The rule that an approval as a rule would write; empty where none can be written. */
  readonly ruleText: string;
}

/** An approval request as lists show it. */
export interface ListedApprovalRequest extends ApprovalRequest {
  /**
   * Whether a caller waits for the decision now. If not, a decision is kept for a repeat of the same call, until the
   * request expires.
   */
  readonly isAwaited: boolean;
}

/** How long an approval lasts: for this call, for similar calls of this session, or as the rule says. */
export type ApprovalTerm = "once" | "session" | "rule";

/** The decision returned by a callback. */
export interface ApprovalDecision {
  readonly approved: boolean;
  /** The user who decided; shown in the ledger. */
  readonly approver: string;
  /** Shown to the agent with a denial. */
  readonly reason?: string;
  /** Used when approved; `once` by default. */
  readonly term?: ApprovalTerm;
  /** With `session`, for commands: the number of leading words that a later command must have in common. */
  readonly words?: number;
}

/** A decision on a request, by its id, from any door. */
export interface ApprovalResolution {
  readonly approvalId: string;
  readonly answer: ApprovalTerm | "deny";
  readonly words?: number | undefined;
  readonly approver: string;
  readonly reason?: string | undefined;
  /** `console` and `cli` may decide every request, other doors only those that do not demand the console. */
  readonly door: string;
}

/** A client's own response to a request, without a user: it decides nothing, and the request stays open. */
export interface ApprovalDecline {
  readonly approvalId: string;
  readonly door: string;
  /** The client's name, as the client gives it. */
  readonly client: string;
  /** The client's response; `no_answer` is a form that was submitted without a choice. */
  readonly action: "decline" | "cancel" | "no_answer";
}

export interface ResolvedApproval {
  readonly answer: ApprovalResolution["answer"];
  /** Whether a caller waited for the decision. If not, an approved call runs when the same call is made again. */
  readonly isAwaited: boolean;
  /** The standing approval, if one was granted. */
  readonly standing: StandingApproval | undefined;
}

/** An approval for longer than one call: valid until it is revoked or its session ends. */
export interface StandingApproval {
  readonly standingId: string;
  readonly scope: "session" | "rule";
  /** Empty for a rule. */
  readonly sessionId: string;
  readonly tool: string;
  /** What it allows, described for users. */
  readonly allows: string;
  /** The approval request in which it was granted. */
  readonly approvalId: string;
  readonly door: string;
  readonly approver: string;
  readonly givenAtMs: number;
}

export interface ApprovalRevocation {
  readonly standingId: string;
  /** The user who revokes it. */
  readonly by: string;
}

export interface ApprovalList {
  /** Oldest first. */
  readonly open: readonly ListedApprovalRequest[];
  readonly standing: readonly StandingApproval[];
}
