import type { JsonValue } from "@narthex/contracts";
import type { Effect, SafetyTier } from "../tool/tool.ts";

/** Who may answer: any person, or one at the console and nobody else. */
export type ApprovalKind = "human" | "console";

/** The exact call a person is asked about. */
export interface ApprovalRequest {
  readonly approvalId: string;
  readonly sessionId: string;
  /** Of the call that asked first. */
  readonly requestId: string;
  readonly tenant: string;
  readonly user: string;
  readonly agent: string;
  readonly workspace: string;
  /** `name@version` */
  readonly tool: string;
  /** Lower-case hex, as are the other digests. */
  readonly definitionHash: string;
  /** Whole: never cut. */
  readonly input: JsonValue;
  readonly inputDigest: string;
  readonly policyHash: string;
  readonly ruleIds: readonly string[];
  /** What the rules that ask say about it. */
  readonly messages: readonly string[];
  /** What a person should know besides: that a file which was allowed for the session has changed. */
  readonly notes: readonly string[];
  /** Rules that ask for every such call: an answer for the session is not offered, and an answer as a rule lifts them. */
  readonly always: readonly string[];
  /** `console` means that no other door may answer. */
  readonly kind: ApprovalKind;
  readonly safetyTier: SafetyTier;
  readonly effects: readonly Effect[];
  readonly labels: readonly string[];
  readonly requestedAtMs: number;
  readonly expiresAtMs: number;
  /** What an answer for the session would allow, for people; empty where such an answer is not offered. */
  readonly sessionScope: string;
  /** The rule that an answer as a rule would write; empty where none can be written. */
  readonly ruleText: string;
}

/** A question as lists show it. */
export interface ListedApprovalRequest extends ApprovalRequest {
  /** Whether a caller waits for the answer now. If not, an answer is kept for the same call, until the question expires. */
  readonly isAwaited: boolean;
}

/** How long a yes is good for: this call, what is like it in this session, or what the rule says. */
export type ApprovalTerm = "once" | "session" | "rule";

/** What a callback answers. */
export interface ApprovalDecision {
  readonly approved: boolean;
  /** Who answered; shown in the ledger. */
  readonly approver: string;
  /** Told to the agent with a no. */
  readonly reason?: string;
  /** Of a yes; `once` by default. */
  readonly term?: ApprovalTerm;
  /** With `session`, for commands: only their first so many words count. */
  readonly words?: number;
}

/** An answer to a question, by its id, from any door. */
export interface ApprovalResolution {
  readonly approvalId: string;
  readonly answer: ApprovalTerm | "deny";
  readonly words?: number | undefined;
  readonly approver: string;
  readonly reason?: string | undefined;
  /** `console` and `cli` may answer every question, others only those that do not demand the console. */
  readonly door: string;
}

/** A client answered a question by itself: no person's answer, and the question stays open. */
export interface ApprovalDecline {
  readonly approvalId: string;
  readonly door: string;
  /** As it calls itself. */
  readonly client: string;
  /** What it said: `no_answer` is a form that was sent off without one. */
  readonly action: "decline" | "cancel" | "no_answer";
}

export interface ResolvedApproval {
  readonly answer: ApprovalResolution["answer"];
  /** Whether a caller waited for it. If not, a call that was approved runs when the same call is made again. */
  readonly isAwaited: boolean;
  /** Of an answer for longer. */
  readonly standing: StandingApproval | undefined;
}

/** An answer that was given for longer than one call, until it is revoked or its session ends. */
export interface StandingApproval {
  readonly standingId: string;
  readonly scope: "session" | "rule";
  /** Empty for a rule. */
  readonly sessionId: string;
  readonly tool: string;
  /** What it allows, for people. */
  readonly allows: string;
  /** The question it answered. */
  readonly approvalId: string;
  readonly door: string;
  readonly approver: string;
  readonly givenAtMs: number;
}

export interface ApprovalRevocation {
  readonly standingId: string;
  /** Who takes it back. */
  readonly by: string;
}

export interface ApprovalList {
  /** Oldest first. */
  readonly open: readonly ListedApprovalRequest[];
  readonly standing: readonly StandingApproval[];
}
