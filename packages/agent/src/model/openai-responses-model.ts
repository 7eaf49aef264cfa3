import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import { type OpenaiResponsesTool, toOpenaiResponsesTools } from "../declare/openai-tools.ts";
import { readCount, readField, readList, readText } from "../stream/to-arguments-json.ts";
import { streamTruncated } from "../stream/provider-error.ts";
import { readOpenaiResponses } from "../stream/read-openai-responses.ts";
import { ToolCallAccumulator } from "../stream/tool-call-accumulator.ts";
import type { AgentMessage, AssistantMessage } from "./agent-message.ts";
import { argumentsToSend } from "./call-arguments.ts";
import type { ModelClient, ModelEvent } from "./model-client.ts";
import type { ModelParameters } from "./openai-model.ts";

/** The part of the `openai` package's client that is used; any object of the same shape works. */
export interface OpenaiResponsesClient {
  readonly responses: {
    create(
      request: OpenaiResponsesRequest,
      options: { readonly signal: AbortSignal },
    ): PromiseLike<AsyncIterable<unknown>>;
  };
}

export interface OpenaiResponsesRequest {
  readonly model: string;
  readonly input: OpenaiInputItem[];
  readonly tools?: OpenaiResponsesTool[];
  readonly stream: true;
}

export type OpenaiInputItem =
  | { readonly role: "system" | "user" | "assistant"; readonly content: string }
  | { readonly type: "function_call"; readonly call_id: string; readonly name: string; readonly arguments: string }
  | { readonly type: "function_call_output"; readonly call_id: string; readonly output: string }
  | ReasoningItem;

interface ReasoningItem {
  readonly type: "reasoning";
  readonly id: string;
  readonly summary: [];
}

/** Reasoning that is sent back unchanged and at its place: before the call that it led to. */
interface KeptReasoning {
  readonly callsBefore: number;
  readonly item: ReasoningItem;
}

/** Must be requested from a provider that stores nothing; without it, reasoning cannot be sent back. */
const ENCRYPTED = "reasoning.encrypted_content";

/**
 * Creates a model client for OpenAI's responses API. The whole conversation is sent each time, and the provider is told
 * not to store it;
 * `{ store: true }` in the parameters overrides that. `reasoning` in the parameters means that the model reasons.
 */
export function openaiResponsesModel(
  client: OpenaiResponsesClient,
  model: string,
  parameters: ModelParameters = {},
): ModelClient {
  const given = withEncrypted({ store: false, ...parameters });
  return {
    async *stream({ messages, tools, signal }) {
      const request: OpenaiResponsesRequest = {
        ...given,
        model,
        input: messages.flatMap(toItems),
        ...(tools.length > 0 && { tools: toOpenaiResponsesTools(tools) }),
        stream: true,
      };
      const calls = new ToolCallAccumulator(readOpenaiResponses);
      let callsBefore = 0;
      let isComplete = false;
      for await (const event of await client.responses.create(request, { signal })) {
        calls.push(event);
        yield* eventsOf(event);
        const type = readField(event, "type");
        isComplete ||= type === "response.completed" || type === "response.incomplete";
        if (type !== "response.output_item.done") continue;
        const item = readField(event, "item");
        if (readField(item, "type") === "function_call") callsBefore++;
        else if (isReasoning(item, given["store"])) yield { type: "keep", part: { callsBefore, item } };
      }
      if (!isComplete) throw streamTruncated();
      yield { type: "calls", calls: calls.finish() };
    },
  };
}

/** Models that do not reason refuse this request. */
function withEncrypted(parameters: ModelParameters): ModelParameters {
  if (parameters["store"] === true || (parameters["reasoning"] ?? null) === null) return parameters;
  return { ...parameters, include: [...new Set([...readList(parameters, "include"), ENCRYPTED])] };
}

function* eventsOf(event: unknown): Generator<ModelEvent> {
  const text = readText(event, "delta");
  switch (readField(event, "type")) {
    case "response.output_text.delta":
    case "response.refusal.delta":
      if (text !== undefined) yield { type: "text", text };
      break;
    case "response.reasoning_text.delta":
    case "response.reasoning_summary_text.delta":
      if (text !== undefined) yield { type: "reasoning", text };
      break;
    case "response.incomplete":
      yield { type: "cut" };
      yield* usageOf(event);
      break;
    case "response.completed":
      yield* usageOf(event);
      break;
  }
}

function* usageOf(event: unknown): Generator<ModelEvent> {
  const usage = readField(readField(event, "response"), "usage");
  const inputTokens = readCount(usage, "input_tokens");
  const outputTokens = readCount(usage, "output_tokens");
  if (inputTokens !== undefined && outputTokens !== undefined) yield { type: "usage", inputTokens, outputTokens };
}

/** A provider that stores nothing accepts its reasoning back only in encrypted form. */
function isReasoning(item: unknown, isStored: unknown): item is JsonObject {
  if (readField(item, "type") !== "reasoning") return false;
  return isStored === true || readText(item, "encrypted_content") !== undefined;
}

function toItems(message: AgentMessage): OpenaiInputItem[] {
  switch (message.role) {
    case "system":
    case "user":
      return [{ role: message.role, content: message.text }];
    case "tool":
      return [{ type: "function_call_output", call_id: message.callId, output: message.text }];
    case "assistant":
      return assistantItems(message);
  }
}

function assistantItems({ text, calls, kept = [] }: AssistantMessage): OpenaiInputItem[] {
  const reasoning = kept.filter(isKeptReasoning);
  const before = (at: number): ReasoningItem[] =>
    reasoning.filter(({ callsBefore }) => callsBefore === at).map(({ item }) => item);
  const said: OpenaiInputItem[] = text === "" ? [] : [{ role: "assistant", content: text }];
  const made = calls.map(
    (call): OpenaiInputItem => ({
      type: "function_call",
      call_id: call.id,
      name: call.name,
      arguments: JSON.stringify(argumentsToSend(call)),
    }),
  );
  // The provider does not accept reasoning back if no text or call follows it.
  if (made.length === 0) return said.length === 0 ? [] : [...before(0), ...said];
  return [...before(0), ...said, ...made.flatMap((item, at) => (at === 0 ? [item] : [...before(at), item]))];
}

function isKeptReasoning(part: JsonValue): part is JsonValue & KeptReasoning {
  return isJsonObject(part) && typeof part["callsBefore"] === "number" && isJsonObject(part["item"]);
}
