import type { JsonObject } from "@narthex/contracts";

/** A client whose hooks request a decision before its own tools run. */
export type HookClient = "claude" | "cursor";

/** A call of a client's own tool, as its hook reports it. */
export interface HookCall {
  readonly client: HookClient;
  readonly event: string;
  /** Tool name that the client uses. */
  readonly toolName: string;
  readonly input: JsonObject;
  /** The client's own id of the conversation; empty if it sends none. */
  readonly conversation: string;
  /** Base of relative paths. */
  readonly directory: string;
  /** Where the client stores long results of this conversation, if it reports that. */
  readonly resultsDirectory?: string | undefined;
}

/** A client's call in the kernel's terms. */
export type HookSubject =
  /** Decided as all of these calls together. */
  | { readonly kind: "calls"; readonly calls: readonly SubjectCall[] }
  /** A tool of narthex's own server, decided when the kernel gets the call. */
  | { readonly kind: "own" }
  /** Touches neither the machine nor a network. */
  | { readonly kind: "harmless" }
  /** Does not correspond to any tool of the kernel. */
  | { readonly kind: "unknown"; readonly why: string };

export interface SubjectCall {
  readonly tool: string;
  /** Input without the path. */
  readonly input: JsonObject;
  /** Path as the client writes it, for tools that work on one. */
  readonly path?: string;
}

/** The decision in a form that is independent of the client. */
export interface HookVerdict {
  /** `none` leaves the decision to the client's own permissions. */
  readonly answer: "allow" | "ask" | "deny" | "none";
  /** An error code or a rationale code; empty if none exists. */
  readonly code: string;
  /** Shown to the user and the agent. */
  readonly reason: string;
  readonly ruleIds: readonly string[];
}

export const NO_RULE = "narthex has no rule for this tool";
export const NO_RULE_FOR_SERVER = "narthex has no rule for tools of another MCP server";

/** Why a hook's message is not a valid call. */
export class HookProblem extends Error {
  override readonly name = "HookProblem";
}
