import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import { readField, readText } from "../stream/to-arguments-json.ts";
import type { AgentMessage, AssistantMessage, ToolMessage } from "./agent-message.ts";
import { argumentsToSend } from "./call-arguments.ts";

export interface GeminiContent {
  readonly role: "user" | "model";
  readonly parts: JsonObject[];
}

/** Gemini's placeholder for a call without a signature of the model. */
export const NO_SIGNATURE = "skip_thought_signature_validator";

/**
 * Adjacent messages with the same role become one content, so that all results of a message are together, in the order
 * of its calls.
 */
export function toGeminiContents(messages: readonly AgentMessage[]): GeminiContent[] {
  const contents: GeminiContent[] = [];
  const ownIds = new Set(messages.flatMap((message) => (message.role === "assistant" ? idsIn(message) : [])));
  for (const message of messages) {
    if (message.role === "system") continue;
    const role = message.role === "assistant" ? "model" : "user";
    const parts = toParts(message, ownIds);
    const last = contents.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else if (parts.length > 0) contents.push({ role, parts });
  }
  return contents;
}

function toParts(message: Exclude<AgentMessage, { role: "system" }>, ownIds: ReadonlySet<string>): JsonObject[] {
  switch (message.role) {
    case "assistant":
      return assistantParts(message);
    case "tool":
      return [toResponse(message, ownIds)];
    default:
      return textParts(message.text);
  }
}

/**
 * Whether a part contains text, a call or a signature of the model. Other parts are not sent back: an image to show, or
 * data that another provider wants back.
 */
export function isGeminiPart(part: unknown): part is JsonObject {
  const isSaid = [readText(part, "text"), readField(part, "functionCall"), readText(part, "thoughtSignature")];
  return isJsonObject(part as JsonValue | undefined) && isSaid.some((field) => field !== undefined);
}

/** The unchanged parts, with signatures, if they came from Gemini. */
function assistantParts({ text, calls, kept = [] }: AssistantMessage): JsonObject[] {
  const own = kept.filter(isGeminiPart);
  if (own.length > 0) return own;
  const made = calls.map((call) => ({
    functionCall: { name: call.name, args: argumentsToSend(call) },
    thoughtSignature: NO_SIGNATURE,
  }));
  return [...textParts(text), ...made];
}

/** Only ids that Gemini assigned are sent back to it: most calls have none, and are matched by their order. */
function toResponse({ callId, name, text, isError }: ToolMessage, ownIds: ReadonlySet<string>): JsonObject {
  const response = isError ? { error: text } : { output: text };
  return { functionResponse: { ...(ownIds.has(callId) && { id: callId }), name, response } };
}

function idsIn({ kept = [] }: AssistantMessage): string[] {
  return kept.flatMap((part) => readText(readField(part, "functionCall"), "id") ?? []);
}

function textParts(text: string): JsonObject[] {
  return text === "" ? [] : [{ text }];
}
