import type { JsonObject } from "@narthex/contracts";

/** What policy is asked. Its canonical JSON is content, so that the decision can be made again. */
export interface PolicyRequest {
  /** The agent, by session. */
  readonly principal: string;
  /** The tool's name, or one of several it goes by: `git_push`. */
  readonly action: string;
  /** The workspace. */
  readonly resource: string;
  readonly context: JsonObject;
}

export type ApprovalDemand = "none" | "human" | "console" | "unstated";

export interface PolicyRule {
  readonly id: string;
  readonly approve: ApprovalDemand;
  readonly rationale: string | undefined;
  readonly message: string | undefined;
}

export interface PolicyAnswer {
  readonly allowed: boolean;
  /** The rules that determined the answer, sorted by id. */
  readonly rules: readonly PolicyRule[];
  /** Any entry denies. */
  readonly errors: readonly string[];
}

/** A loaded set: its text is content under `hash`. */
export interface PolicySet {
  readonly hash: Uint8Array;
  readonly schemaHash: Uint8Array;
  readonly engine: string;
  readonly ruleCount: number;
  /** The canonical bytes that `hash` is of. */
  readonly bytes: Uint8Array;
}
