import type { JsonValue } from "@narthex/contracts";
import type { StreamedCall } from "../stream/call-delta.ts";

/** One message of a conversation, whichever provider it is with. */
export type AgentMessage = PlainMessage | AssistantMessage | ToolMessage;

export interface PlainMessage {
  readonly role: "system" | "user";
  readonly text: string;
}

export interface AssistantMessage {
  readonly role: "assistant";
  readonly text: string;
  readonly calls: readonly StreamedCall[];
  /** What the provider wants back as it was, such as its signed reasoning. */
  readonly kept?: readonly JsonValue[];
}

/** The result of one call of the message before. */
export interface ToolMessage {
  readonly role: "tool";
  readonly callId: string;
  /** As the model called it. */
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
  /** What is written down in the place of `text`, where that must stay with the kernel. */
  readonly recorded?: RecordedText;
}

/** The session and request to which alone the kernel gives a text again; or, where nobody can have it, other words. */
export type RecordedText = { readonly sessionId: string; readonly requestId: string } | { readonly words: string };
