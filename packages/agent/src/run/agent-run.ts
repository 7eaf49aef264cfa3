import { type ApprovalRequest, checkOptions, type OptionKinds } from "@narthex/kernel";
import type { AgentMessage } from "../model/agent-message.ts";
import type { ModelClient, ModelUsage } from "../model/model-client.ts";
import type { AgentSession } from "../session/agent-session.ts";
import type { CallOutcome } from "../session/execute-call.ts";
import type { StreamedCall } from "../stream/call-delta.ts";
import type { Transcript } from "./transcript.ts";

export interface AgentOptions {
  readonly session: AgentSession;
  readonly model: ModelClient;
  /** The conversation so far; the model responds to its last message. */
  readonly messages: readonly AgentMessage[];
  /**
   * Records the run as it proceeds. A transcript with a run in it is resumed where the run stopped, and nothing is done
   * twice;
   * `messages` must then be the run's initial messages, or empty.
   */
  readonly transcript?: Transcript;
  readonly limits?: Partial<AgentLimits>;
  /** The price of a model message in cost units. By default, one unit per token. */
  readonly priceOf?: (usage: ModelUsage) => number;
  /** Cancels the run, and the calls that it waits for. */
  readonly signal?: AbortSignal;
  /** Receives every event as it happens; the run waits for it. */
  readonly onEvent?: (event: AgentEvent) => void | Promise<void>;
}

export interface AgentLimits {
  /** Maximum number of model messages. */
  readonly turns: number;
  /** Maximum cost units of the model's messages and of tool calls together. */
  readonly cost: number;
  readonly timeMs: number;
  /** Maximum number of consecutive malformed calls of one tool. */
  readonly corrections: number;
  /** Maximum number of calls in one message. */
  readonly callsPerTurn: number;
  /** Maximum number of read-only calls that run in parallel. */
  readonly parallel: number;
  /** How long a call waits for an approval before the model is told that it is pending. */
  readonly approvalWaitMs: number;
}

export const DEFAULT_LIMITS: AgentLimits = {
  turns: 50,
  cost: Number.POSITIVE_INFINITY,
  timeMs: 3_600_000,
  corrections: 3,
  callsPerTurn: 64,
  parallel: 8,
  approvalWaitMs: 600_000,
};

const OPTION_KINDS: OptionKinds<AgentOptions> = {
  session: "object",
  model: "object",
  messages: "list",
  transcript: "object?",
  limits: "object?",
  priceOf: "function?",
  signal: "signal?",
  onEvent: "function?",
};
const LIMIT_KINDS: OptionKinds<AgentLimits> = {
  turns: "amount?",
  cost: "amount?",
  timeMs: "amount?",
  corrections: "amount?",
  callsPerTurn: "amount?",
  parallel: "amount?",
  approvalWaitMs: "amount?",
};

/** Throws INVALID_INPUT. SECURITY: no value ever exceeds a limit that is NaN, so limits must be numbers. */
export function checkAgentOptions(options: AgentOptions): void {
  checkOptions(options, OPTION_KINDS, "runAgent");
  if (options.limits !== undefined) checkOptions(options.limits, LIMIT_KINDS, "an agent's limits");
}

export type AgentEvent =
  | { readonly type: "turn"; readonly turn: number }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "call"; readonly call: StreamedCall }
  | { readonly type: "result"; readonly call: StreamedCall; readonly outcome: CallOutcome }
  /** An approval was requested; the call waits for it. */
  | { readonly type: "question"; readonly question: ApprovalRequest }
  | { readonly type: "usage"; readonly usage: ModelUsage; readonly cost: number };

/** Why a run ended. `answered` is the only value that needs no attention. */
export type AgentEnd = "answered" | "length" | "turns" | "cost" | "time" | "corrections" | "cancelled" | "failed";

export interface AgentResult {
  readonly end: AgentEnd;
  /** The text of the model's last message. */
  readonly text: string;
  /** The whole conversation. Every call in it has its result, so it can be continued. */
  readonly messages: readonly AgentMessage[];
  readonly turns: number;
  readonly cost: number;
  /** Why the run `failed`. */
  readonly error?: Error;
}
