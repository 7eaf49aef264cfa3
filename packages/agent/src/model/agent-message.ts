import type { JsonValue } from "@narthex/contracts";
import type { StreamedCall } from "../stream/call-delta.ts";

/** One message of a conversation, independent of the provider. */
export type AgentMessage = PlainMessage | AssistantMessage | ToolMessage;

export interface PlainMessage {
  readonly role: "system" | "user";
  readonly text: string;
}

export interface AssistantMessage {
  readonly role: "assistant";
  readonly text: string;
  readonly calls: readonly StreamedCall[];
  /** Data that must be sent back to the provider unchanged, such as its signed reasoning. */
  readonly kept?: readonly JsonValue[];
}

/** The result of one call of the preceding message. */
export interface ToolMessage {
  readonly role: "tool";
  readonly callId: string;
  /** The tool's name as the model wrote it. */
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
  /** Recorded in a transcript in place of `text`, if the text must not leave the kernel. */
  readonly recorded?: RecordedText;
}

/**
 * The session and request for which the kernel returns the text again, and only for them; or a replacement text, if the
 * original cannot be retrieved.
 */
export type RecordedText = { readonly sessionId: string; readonly requestId: string } | { readonly words: string };
