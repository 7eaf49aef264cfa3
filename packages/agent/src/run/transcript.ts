import type { AgentMessage, AssistantMessage } from "../model/agent-message.ts";
import type { CallOutcome } from "../session/execute-call.ts";

/** The record of one run, so that it can be resumed after a crash. */
export interface Transcript {
  /** All appended entries, in their order. */
  read(): Promise<readonly TranscriptEntry[]>;
  /** Resolves once the entry survives a crash. Entries keep the order in which they were passed. */
  append(entry: TranscriptEntry): Promise<void>;
}

/**
 * First the beginning; then each message of the model, followed by the results of its calls in the order of arrival.
 */
export type TranscriptEntry = BeginEntry | TurnEntry | ResultEntry;

export interface BeginEntry {
  readonly type: "begin";
  /** Part of the request id of every call, so that two runs never share an id. */
  readonly runId: string;
  /** Only the session that made a call knows it. */
  readonly sessionId: string;
  /** Without the texts that must stay in the kernel. */
  readonly messages: readonly AgentMessage[];
}

export interface TurnEntry {
  readonly type: "turn";
  /** Starts at 1. */
  readonly turn: number;
  readonly message: AssistantMessage;
  readonly isCut: boolean;
  /** Cost units of the message. */
  readonly cost: number;
}

export interface ResultEntry {
  readonly type: "result";
  readonly turn: number;
  /** The index of the call in the message. */
  readonly at: number;
  readonly status: CallOutcome["status"];
  readonly requestId: string;
  /** Cost units of the call. */
  readonly cost: number;
  /** The text that the model was told. Absent if it must stay in the kernel, which then returns it on request. */
  readonly text?: string;
}
