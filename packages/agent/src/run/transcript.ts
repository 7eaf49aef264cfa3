import type { AgentMessage, AssistantMessage } from "../model/agent-message.ts";
import type { CallOutcome } from "../session/execute-call.ts";

/** Keeps one run, so that it can go on after a crash. */
export interface Transcript {
  /** Everything that was appended, in its order. */
  read(): Promise<readonly TranscriptEntry[]>;
  /** Resolves once the entry survives a crash. Entries stand in the order in which they were given. */
  append(entry: TranscriptEntry): Promise<void>;
}

/** First the beginning; then each message of the model, and behind it the results of its calls as they came. */
export type TranscriptEntry = BeginEntry | TurnEntry | ResultEntry;

export interface BeginEntry {
  readonly type: "begin";
  /** Part of the request id of every call, so that no two runs have one in common. */
  readonly runId: string;
  /** Calls are known to the session that made them, and to no other. */
  readonly sessionId: string;
  /** Without the texts that only the kernel may keep. */
  readonly messages: readonly AgentMessage[];
}

export interface TurnEntry {
  readonly type: "turn";
  /** From 1. */
  readonly turn: number;
  readonly message: AssistantMessage;
  readonly isCut: boolean;
  /** Cost units of the message. */
  readonly cost: number;
}

export interface ResultEntry {
  readonly type: "result";
  readonly turn: number;
  /** The call's place in the message. */
  readonly at: number;
  readonly status: CallOutcome["status"];
  readonly requestId: string;
  /** Cost units of the call. */
  readonly cost: number;
  /** What the model was told. Absent if only the kernel may keep it: then the kernel is asked for it. */
  readonly text?: string;
}
