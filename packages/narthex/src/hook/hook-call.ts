import type { JsonObject } from "@narthex/contracts";

/** A client whose hooks ask before its own tools run. */
export type HookClient = "claude" | "cursor";

/** A call of a client's own tool, as its hook tells of it. */
export interface HookCall {
  readonly client: HookClient;
  readonly event: string;
  /** As the client calls it. */
  readonly toolName: string;
  readonly input: JsonObject;
  /** The client's own name for the conversation; empty where it gives none. */
  readonly conversation: string;
  /** Where relative paths start. */
  readonly directory: string;
  /** Where the client keeps long results of this conversation, if it tells. */
  readonly resultsDirectory?: string | undefined;
}

/** What a client's call comes to in the kernel's terms. */
export type HookSubject =
  /** Decided as these calls would be, all of them. */
  | { readonly kind: "calls"; readonly calls: readonly SubjectCall[] }
  /** A tool of narthex's own server, decided when the call gets there. */
  | { readonly kind: "own" }
  /** Touches neither the machine nor a network. */
  | { readonly kind: "harmless" }
  /** Nothing of the kernel's is like it. */
  | { readonly kind: "unknown"; readonly why: string };

export interface SubjectCall {
  readonly tool: string;
  /** But for the path. */
  readonly input: JsonObject;
  /** As the client writes it, for tools that work on one. */
  readonly path?: string;
}

/** What is answered, whichever client asked. */
export interface HookVerdict {
  /** `none`: the client's own way goes on, unhindered and unhelped. */
  readonly answer: "allow" | "ask" | "deny" | "none";
  /** An error code or a rationale code; empty where there is none. */
  readonly code: string;
  /** For the person and the agent. */
  readonly reason: string;
  readonly ruleIds: readonly string[];
}

export const NO_RULE = "narthex has no rule for this tool";
export const NO_RULE_FOR_SERVER = "narthex has no rule for tools of another MCP server";

/** Why a hook's message cannot be taken for a call. */
export class HookProblem extends Error {
  override readonly name = "HookProblem";
}
