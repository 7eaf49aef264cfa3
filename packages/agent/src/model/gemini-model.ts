import { type GeminiTool, toGeminiTools } from "../declare/gemini-tools.ts";
import { readGemini } from "../stream/read-gemini.ts";
import { ToolCallAccumulator } from "../stream/tool-call-accumulator.ts";
import { type GeminiContent, toGeminiContents } from "./gemini-contents.ts";
import { createGeminiEvents, UNREADABLE_CALL } from "./gemini-events.ts";
import type { ModelClient } from "./model-client.ts";
import type { ModelParameters } from "./openai-model.ts";

/** The part of the `@google/genai` client that is used; any object of the same shape works. */
export interface GeminiClient {
  readonly models: {
    generateContentStream(request: GeminiRequest): PromiseLike<AsyncIterable<unknown>>;
  };
}

export interface GeminiRequest {
  readonly model: string;
  readonly contents: GeminiContent[];
  readonly config: GeminiConfig;
}

interface GeminiConfig {
  readonly systemInstruction?: string;
  readonly tools?: GeminiTool[];
  readonly automaticFunctionCalling: { readonly disable: true };
  readonly abortSignal: AbortSignal;
}

/** Creates a model client for Gemini's `generateContentStream`. `parameters` are added to its `config`. */
export function geminiModel(client: GeminiClient, model: string, parameters: ModelParameters = {}): ModelClient {
  return {
    async *stream({ messages, tools, signal }) {
      const system = messages.flatMap((message) => (message.role === "system" ? [message.text] : [])).join("\n\n");
      const config: GeminiConfig = {
        ...parameters,
        ...(system !== "" && { systemInstruction: system }),
        ...(tools.length > 0 && { tools: toGeminiTools(tools) }),
        // SECURITY: the client can run functions by itself; here only the kernel runs them.
        automaticFunctionCalling: { disable: true },
        abortSignal: signal,
      };
      const calls = new ToolCallAccumulator(readGemini);
      const events = createGeminiEvents();
      const contents = toGeminiContents(messages);
      for await (const chunk of await client.models.generateContentStream({ model, contents, config })) {
        calls.push(chunk);
        yield* events.read(chunk);
      }
      yield* events.end();
      yield { type: "calls", calls: [...calls.finish(), ...unreadableCall(events.unreadable)] };
    },
  };
}

/** A call that could not be parsed still counts as a call, so that the model is told and can repeat it. */
function unreadableCall(why: string | undefined) {
  return why === undefined ? [] : [{ id: `call_${crypto.randomUUID()}`, name: UNREADABLE_CALL, arguments: why }];
}
