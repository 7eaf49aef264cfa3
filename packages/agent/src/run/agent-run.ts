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
  /** The conversation so far; its last message is for the model to answer. */
  readonly messages: readonly AgentMessage[];
  /**
   * Keeps the run as it goes. One that holds a run already is taken up where that stopped, and nothing is done twice;
   * `messages` is then what the run began with, or empty.
   */
  readonly transcript?: Transcript;
  readonly limits?: Partial<AgentLimits>;
  /** What a message of the model costs, in cost units. One unit for each token unless given. */
  readonly priceOf?: (usage: ModelUsage) => number;
  /** Ends the run, and the calls it waits for. */
  readonly signal?: AbortSignal;
  /** Told everything as it happens; the run waits for it. */
  readonly onEvent?: (event: AgentEvent) => void | Promise<void>;
}

export interface AgentLimits {
  /** Messages of the model. */
  readonly turns: number;
  /** Cost units, of the model's messages and of tool calls together. */
  readonly cost: number;
  readonly timeMs: number;
  /** Malformed calls of one tool in a row. */
  readonly corrections: number;
  /** Calls of one message. */
  readonly callsPerTurn: number;
  /** Read-only calls that run side by side. */
  readonly parallel: number;
  /** How long a call waits for a person before the model is told that it does. */
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

/** Throws INVALID_INPUT. SECURITY: nothing is ever above a limit that is no number. */
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
  /** A person is asked; the call waits. */
  | { readonly type: "question"; readonly question: ApprovalRequest }
  | { readonly type: "usage"; readonly usage: ModelUsage; readonly cost: number };

/** Why a run ended. `answered` is the only one that nobody need look into. */
export type AgentEnd = "answered" | "length" | "turns" | "cost" | "time" | "corrections" | "cancelled" | "failed";

export interface AgentResult {
  readonly end: AgentEnd;
  /** The model's last words. */
  readonly text: string;
  /** The whole conversation: every call in it has its result, so it can be taken up again. */
  readonly messages: readonly AgentMessage[];
  readonly turns: number;
  readonly cost: number;
  /** Why it `failed`. */
  readonly error?: Error;
}
