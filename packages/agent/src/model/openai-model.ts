import { type OpenaiChatTool, toOpenaiChatTools } from "../declare/openai-tools.ts";
import { readCount, readField, readList, readText } from "../stream/to-arguments-json.ts";
import { streamTruncated } from "../stream/provider-error.ts";
import { readOpenaiChat } from "../stream/read-openai-chat.ts";
import { ToolCallAccumulator } from "../stream/tool-call-accumulator.ts";
import type { AgentMessage } from "./agent-message.ts";
import { argumentsToSend } from "./call-arguments.ts";
import type { ModelClient, ModelEvent } from "./model-client.ts";

/** The part of the `openai` package's client that is used; any object of the same shape works. */
export interface OpenaiClient {
  readonly chat: {
    readonly completions: {
      create(
        request: OpenaiChatRequest,
        options: { readonly signal: AbortSignal },
      ): PromiseLike<AsyncIterable<unknown>>;
    };
  };
}

export interface OpenaiChatRequest {
  readonly model: string;
  readonly messages: OpenaiMessage[];
  readonly tools?: OpenaiChatTool[];
  readonly stream: true;
  readonly stream_options: { readonly include_usage: true };
}

export type OpenaiMessage =
  | { readonly role: "system" | "user"; readonly content: string }
  | { readonly role: "assistant"; readonly content: string | null; readonly tool_calls?: OpenaiToolCall[] }
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string };

interface OpenaiToolCall {
  readonly type: "function";
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

/** Additional fields of the request, such as `{ temperature: 0 }`. */
export type ModelParameters = Readonly<Record<string, unknown>>;

/** Creates a model client for OpenAI's chat completions, or for any compatible server. */
export function openaiModel(client: OpenaiClient, model: string, parameters: ModelParameters = {}): ModelClient {
  return {
    async *stream({ messages, tools, signal }) {
      const request: OpenaiChatRequest = {
        ...parameters,
        model,
        messages: messages.map(toOpenaiMessage),
        ...(tools.length > 0 && { tools: toOpenaiChatTools(tools) }),
        stream: true,
        stream_options: { include_usage: true },
      };
      const calls = new ToolCallAccumulator(readOpenaiChat);
      let isComplete = false;
      for await (const chunk of await client.chat.completions.create(request, { signal })) {
        calls.push(chunk);
        isComplete ||= readText(readList(chunk, "choices")[0], "finish_reason") !== undefined;
        yield* eventsOf(chunk);
      }
      if (!isComplete) throw streamTruncated();
      yield { type: "calls", calls: calls.finish() };
    },
  };
}

function* eventsOf(chunk: unknown): Generator<ModelEvent> {
  const [choice] = readList(chunk, "choices");
  const delta = readField(choice, "delta");
  const text = readText(delta, "content") ?? readText(delta, "refusal");
  if (text !== undefined) yield { type: "text", text };
  if (readField(choice, "finish_reason") === "length") yield { type: "cut" };
  const usage = readField(chunk, "usage");
  const inputTokens = readCount(usage, "prompt_tokens");
  const outputTokens = readCount(usage, "completion_tokens");
  if (inputTokens !== undefined && outputTokens !== undefined) yield { type: "usage", inputTokens, outputTokens };
}

function toOpenaiMessage(message: AgentMessage): OpenaiMessage {
  switch (message.role) {
    case "system":
    case "user":
      return { role: message.role, content: message.text };
    case "tool":
      return { role: "tool", tool_call_id: message.callId, content: message.text };
    case "assistant": {
      const tool_calls = message.calls.map(
        (call): OpenaiToolCall => ({
          type: "function",
          id: call.id,
          function: { name: call.name, arguments: JSON.stringify(argumentsToSend(call)) },
        }),
      );
      const content = message.text === "" && tool_calls.length > 0 ? null : message.text;
      return { role: "assistant", content, ...(tool_calls.length > 0 && { tool_calls }) };
    }
  }
}
