import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import { type AnthropicTool, toAnthropicTools } from "../declare/anthropic-tools.ts";
import { readField } from "../stream/to-arguments-json.ts";
import { streamTruncated } from "../stream/provider-error.ts";
import { readAnthropic } from "../stream/read-anthropic.ts";
import { ToolCallAccumulator } from "../stream/tool-call-accumulator.ts";
import type { AgentMessage, AssistantMessage } from "./agent-message.ts";
import { createAnthropicEvents } from "./anthropic-events.ts";
import { argumentsToSend } from "./call-arguments.ts";
import type { ModelClient } from "./model-client.ts";

/** The part of the `@anthropic-ai/sdk` client that is used; any object of the same shape works. */
export interface AnthropicClient {
  readonly messages: {
    create(request: AnthropicRequest, options: { readonly signal: AbortSignal }): PromiseLike<AsyncIterable<unknown>>;
  };
}

export interface AnthropicRequest {
  readonly model: string;
  readonly max_tokens: number;
  readonly system?: string;
  readonly messages: AnthropicMessage[];
  readonly tools?: AnthropicTool[];
  readonly stream: true;
}

export interface AnthropicMessage {
  readonly role: "user" | "assistant";
  readonly content: AnthropicBlock[];
}

export type AnthropicBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: JsonObject }
  | {
      readonly type: "tool_result";
      readonly tool_use_id: string;
      readonly content: string;
      readonly is_error: boolean;
    }
  | KeptBlock;

/** Reasoning that is sent back unchanged. */
export type KeptBlock =
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | { readonly type: "redacted_thinking"; readonly data: string };

/** Default `max_tokens` of a message. */
const MAX_TOKENS = 8192;

/**
 * Creates a model client for Anthropic's messages API. `parameters` are added to the request, such as `{ max_tokens:
 * 4096 }`.
 */
export function anthropicModel(
  client: AnthropicClient,
  model: string,
  parameters: Readonly<Record<string, unknown>> = {},
): ModelClient {
  return {
    async *stream({ messages, tools, signal }) {
      const system = messages.flatMap((message) => (message.role === "system" ? [message.text] : [])).join("\n\n");
      const request: AnthropicRequest = {
        max_tokens: MAX_TOKENS,
        ...parameters,
        model,
        ...(system !== "" && { system }),
        messages: toAnthropicMessages(messages),
        ...(tools.length > 0 && { tools: toAnthropicTools(tools) }),
        stream: true,
      };
      const calls = new ToolCallAccumulator(readAnthropic);
      const events = createAnthropicEvents();
      let isComplete = false;
      for await (const event of await client.messages.create(request, { signal })) {
        calls.push(event);
        isComplete ||= readField(event, "type") === "message_stop";
        yield* events.read(event);
      }
      if (!isComplete) throw streamTruncated();
      yield* events.end();
      yield { type: "calls", calls: calls.finish() };
    },
  };
}

/** Adjacent messages with the same role become one, so that all results of a message are together. */
function toAnthropicMessages(messages: readonly AgentMessage[]): AnthropicMessage[] {
  const sent: AnthropicMessage[] = [];
  for (const message of messages) {
    if (message.role === "system") continue;
    const role = message.role === "assistant" ? "assistant" : "user";
    const content = toBlocks(message);
    const last = sent.at(-1);
    if (last?.role === role) last.content.push(...content);
    else if (content.length > 0) sent.push({ role, content });
  }
  return sent;
}

function toBlocks(message: Exclude<AgentMessage, { role: "system" }>): AnthropicBlock[] {
  switch (message.role) {
    case "assistant":
      return assistantBlocks(message);
    case "tool":
      return [{ type: "tool_result", tool_use_id: message.callId, content: message.text, is_error: message.isError }];
    default:
      return textBlocks(message.text);
  }
}

function assistantBlocks(message: AssistantMessage): AnthropicBlock[] {
  return [
    ...(message.kept ?? []).filter(isKeptBlock),
    ...textBlocks(message.text),
    ...message.calls.map(
      (call): AnthropicBlock => ({ type: "tool_use", id: call.id, name: call.name, input: argumentsToSend(call) }),
    ),
  ];
}

/** Data that another provider wants back is not a block of Anthropic's. */
function isKeptBlock(part: JsonValue): part is JsonValue & KeptBlock {
  if (!isJsonObject(part)) return false;
  if (part["type"] === "redacted_thinking") return typeof part["data"] === "string";
  return part["type"] === "thinking" && [part["thinking"], part["signature"]].every((text) => typeof text === "string");
}

/** A text block must not be empty. */
function textBlocks(text: string): AnthropicBlock[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}
