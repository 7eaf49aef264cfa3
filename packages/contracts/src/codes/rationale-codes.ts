import type { CodeFacts } from "./code-facts.ts";

export type RationaleCode =
  | "SESSION_UNKNOWN"
  | "SESSION_CLOSED"
  | "SESSION_EXPIRED"
  | "SESSION_QUARANTINED"
  | "LEASE_SCOPE"
  | "LEASE_EXPIRED"
  | "LEASE_REVOKED"
  | "TIER_NOT_ALLOWED"
  | "CAPABILITY_MISSING"
  | "BUDGET_EXCEEDED"
  | "BOUNDS_EXCEEDED"
  | "POLICY_MISSING"
  | "POLICY_ERROR"
  | "NO_MATCHING_RULE"
  | "APPROVAL_DENIED"
  | "APPROVAL_TIMEOUT"
  | "APPROVAL_UNAVAILABLE";

/** Why a call was denied: `ToolDenied.rationale_code`, unless a policy rule defines its own code. */
export const RATIONALE_CODES: ReadonlyMap<RationaleCode, CodeFacts> = new Map<RationaleCode, CodeFacts>([
  [
    "SESSION_UNKNOWN",
    {
      retryable: false,
      meaning: "no session has this id or token",
      next: "name one of `narthex session list --all`, or open one with `narthex session open --workspace DIR`",
    },
  ],
  [
    "SESSION_CLOSED",
    {
      retryable: false,
      meaning: "the session was closed",
      next: "open a new session with `narthex session open --workspace DIR`",
    },
  ],
  [
    "SESSION_EXPIRED",
    {
      retryable: false,
      meaning: "the session's time is over",
      next: "open a new session with `narthex session open --workspace DIR`",
    },
  ],
  [
    "SESSION_QUARANTINED",
    {
      retryable: false,
      meaning: "the session tried to break out too often and may do nothing more",
      next: "look at what it did with `narthex ledger list`, then open a new session if you still trust the agent",
    },
  ],
  [
    "LEASE_SCOPE",
    {
      retryable: false,
      meaning: "the session's lease does not cover this tool",
      next: "use a tool the lease covers, or open a session with a lease that names this one",
    },
  ],
  [
    "LEASE_EXPIRED",
    {
      retryable: false,
      meaning: "the session's lease is over, or has not begun",
      next: "wait for the lease's not-before time, or open a session with a new lease",
    },
  ],
  [
    "LEASE_REVOKED",
    {
      retryable: false,
      meaning: "the session's lease, or one it came from, was revoked",
      next: "ask whoever granted the lease for a new one",
    },
  ],
  [
    "TIER_NOT_ALLOWED",
    {
      retryable: false,
      meaning: "the call's safety tier is above what the lease allows",
      next: "use a tool of a lower tier, or open a session with a lease of a higher one",
    },
  ],
  [
    "CAPABILITY_MISSING",
    {
      retryable: false,
      meaning: "the lease lacks a capability that this call needs",
      next: "stay within the paths, hosts and programs the lease covers, or open a session with `narthex session open --workspace DIR --lease FILE` whose lease has the named capability",
    },
  ],
  [
    "BUDGET_EXCEEDED",
    {
      retryable: false,
      meaning: "what is left of the budget does not cover this call",
      next: "ask for less, wait for running calls to give back what they do not use, or open a session with a larger budget",
    },
  ],
  [
    "BOUNDS_EXCEEDED",
    {
      retryable: false,
      meaning: "the call asks for more than the tool's bounds or the kernel's ceilings",
      next: "lower the named limit and call again; `narthex tools show NAME` prints the bounds",
    },
  ],
  [
    "POLICY_MISSING",
    {
      retryable: false,
      meaning: "no policy is in force, so every call is denied",
      next: "correct the file and line that `narthex policy check` names, then reload with `narthex policy reload`; where there is no policy file, `narthex init` writes the default one",
    },
  ],
  [
    "POLICY_ERROR",
    {
      retryable: false,
      meaning: "a policy rule could not be evaluated, so the call is denied",
      next: "correct the rule named in the message, then load the policy again",
    },
  ],
  [
    "NO_MATCHING_RULE",
    {
      retryable: false,
      meaning: "no policy rule permits this call",
      next: "use a permitted tool, or have an administrator add a permit rule for this one to the policy and put it in force with `narthex policy reload`",
    },
  ],
  [
    "APPROVAL_DENIED",
    {
      retryable: false,
      meaning: "a person said no to this call",
      next: "do something else; do not ask again for the same call",
    },
  ],
  [
    "APPROVAL_TIMEOUT",
    {
      retryable: true,
      meaning: "nobody answered before the approval expired",
      next: "call again when someone can answer",
    },
  ],
  [
    "APPROVAL_UNAVAILABLE",
    {
      retryable: false,
      meaning: "the call needs a person's approval and no way to ask one is open",
      next: "start `narthex serve`, or call from a terminal, so that a person can be asked; or permit the call by a rule of the policy",
    },
  ],
]);
