import type { JsonObject } from "@narthex/contracts";
import { anthropicError, anthropicMessage, anthropicStream } from "./anthropic-stream.ts";
import { geminiContent, geminiError, geminiStream } from "./gemini-stream.ts";
import { openaiResponse, openaiResponsesStream } from "./openai-responses-stream.ts";
import { openaiCompletion, openaiError, openaiStream } from "./openai-stream.ts";
import { readAnthropicRequest } from "./read-anthropic-request.ts";
import { readGeminiRequest } from "./read-gemini-request.ts";
import { readOpenaiRequest } from "./read-openai-request.ts";
import { readOpenaiResponsesRequest } from "./read-openai-responses-request.ts";
import type { ScriptedResponse } from "./scripted-response.ts";
import type { ModelRequest } from "./model-request.ts";
import type { ModelReply } from "./start-model-server.ts";

/** One HTTP protocol of a model provider. */
export interface ModelProtocol {
  /** Whether a path, without its query, belongs to this protocol. */
  owns(path: string): boolean;
  read(body: JsonObject): ModelRequest;
  /** Whether the client requests a streamed response. */
  isStreaming(path: string, body: JsonObject): boolean;
  stream(answer: ScriptedResponse): string;
  /** The response as one JSON text. */
  whole(answer: ScriptedResponse): string;
  /** The provider's stop reasons for a response that ends with text, and for one that ends with calls. */
  readonly stops: { readonly text: string; readonly calls: string };
}

const anthropic: ModelProtocol = {
  owns: (path) => path.endsWith("/v1/messages"),
  read: readAnthropicRequest,
  isStreaming: (_, { stream }) => stream === true,
  stream: anthropicStream,
  whole: anthropicMessage,
  stops: { text: "end_turn", calls: "tool_use" },
};

const openai: ModelProtocol = {
  owns: (path) => path.endsWith("/chat/completions"),
  read: readOpenaiRequest,
  isStreaming: (_, { stream }) => stream === true,
  stream: openaiStream,
  whole: openaiCompletion,
  stops: { text: "stop", calls: "tool_calls" },
};

const openaiResponses: ModelProtocol = {
  owns: (path) => path.endsWith("/responses"),
  read: readOpenaiResponsesRequest,
  isStreaming: (_, { stream }) => stream === true,
  stream: openaiResponsesStream,
  whole: openaiResponse,
  stops: { text: "completed", calls: "completed" },
};

const gemini: ModelProtocol = {
  owns: (path) => /:(?:streamG|g)enerateContent$/.test(path),
  read: readGeminiRequest,
  isStreaming: (path) => path.endsWith(":streamGenerateContent"),
  stream: geminiStream,
  whole: geminiContent,
  stops: { text: "STOP", calls: "STOP" },
};

export const MODEL_PROTOCOLS: readonly ModelProtocol[] = [anthropic, openai, openaiResponses, gemini];

/** Responds to auxiliary requests: counting tokens, listing models. Undefined for an unknown path. */
export function answerAside(method: string, path: string): ModelReply | undefined {
  const json = (status: number, body: unknown): ModelReply => ({
    status,
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  if (path.endsWith("/v1/messages/count_tokens")) return json(200, { input_tokens: 1000 });
  if (path.endsWith(":countTokens")) return json(200, { totalTokens: 1000 });
  if (method === "GET" && path.endsWith("/models")) {
    return json(200, { object: "list", data: [{ id: "scripted", object: "model", created: 1, owned_by: "test" }] });
  }
  if (method === "HEAD") return json(200, "");
  return undefined;
}

/** The error of a provider for an unknown path; the provider is guessed from the path. */
export function answerUnknown(path: string): ModelReply {
  const body = path.includes("/v1beta")
    ? geminiError(404, "NOT_FOUND", "not found")
    : path.includes("/v1/messages")
      ? JSON.stringify(anthropicError("not_found_error", "not found"))
      : openaiError("not found", "invalid_request_error");
  return { status: 404, headers: { "content-type": "application/json" }, body };
}
