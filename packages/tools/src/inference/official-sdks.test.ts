import assert from "node:assert/strict";
import { describe, it } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { utf8 } from "@narthex/contracts";
import {
  anthropicError,
  anthropicEvent,
  anthropicStream,
  geminiError,
  geminiStream,
  type ModelReply,
  openaiError,
  openaiStream,
  startModelServer,
} from "@narthex/testkit";
import OpenAI from "openai";
import type { InferenceProvider } from "./inference-provider.ts";
import { openInference, providersAt, toolAt } from "./testing/inference-kernel.ts";

interface Heard {
  readonly text: string;
  readonly input_tokens: number | undefined;
  readonly output_tokens: number | undefined;
}

const PROMPT = "What is the capital of France?";
const ANSWER = {
  model: "m-1",
  texts: ["Grüße ", "aus\n\n", "Paris 🐲", "data: [DONE]"],
  inputTokens: 12,
  outputTokens: 3,
};

const SDKS: Readonly<Record<InferenceProvider["format"], (url: string) => Promise<Heard>>> = {
  async openai(url) {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "k", maxRetries: 0 });
    const stream = await client.chat.completions.create({
      model: "m-1",
      messages: [{ role: "user", content: PROMPT }],
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    let use: OpenAI.CompletionUsage | undefined;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      use = chunk.usage ?? use;
    }
    return { text, input_tokens: use?.prompt_tokens, output_tokens: use?.completion_tokens };
  },
  async anthropic(url) {
    const client = new Anthropic({ baseURL: url, apiKey: "k", maxRetries: 0 });
    const messages = [{ role: "user" as const, content: PROMPT }];
    const { content, usage } = await client.messages.stream({ model: "m-1", max_tokens: 100, messages }).finalMessage();
    const text = content.map((block) => (block.type === "text" ? block.text : "")).join("");
    return { text, input_tokens: usage.input_tokens, output_tokens: usage.output_tokens };
  },
  async gemini(url) {
    const client = new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl: url } });
    const heard = { text: "", input_tokens: 0, output_tokens: 0 };
    for await (const chunk of await client.models.generateContentStream({ model: "m-1", contents: PROMPT })) {
      heard.text += chunk.text ?? "";
      heard.input_tokens = chunk.usageMetadata?.promptTokenCount ?? 0;
      heard.output_tokens = chunk.usageMetadata?.candidatesTokenCount ?? 0;
    }
    return heard;
  },
};

const GOOD: Readonly<Record<InferenceProvider["format"], string>> = {
  openai: openaiStream({ ...ANSWER, stop: "stop" }),
  anthropic: anthropicStream({ ...ANSWER, stop: "end_turn" }),
  gemini: geminiStream({ ...ANSWER, stop: "STOP" }),
};

const begun = (stream: string): string =>
  stream
    .split(/(?<=\n\r?\n)/)
    .slice(0, 4)
    .join("");

/** What a client must not take for an answer. */
const BAD: Readonly<Record<InferenceProvider["format"], readonly ModelReply[]>> = {
  openai: [
    { status: 429, body: openaiError("Rate limit reached", "requests", "rate_limit_exceeded") },
    { status: 500, body: openaiError("The server had an error", "server_error") },
    { body: `${begun(GOOD.openai)}data: ${openaiError("The server had an error", "server_error")}\n\n` },
    { body: begun(GOOD.openai), isCut: true },
  ],
  anthropic: [
    { status: 529, body: JSON.stringify(anthropicError("overloaded_error", "Overloaded")) },
    { status: 400, body: JSON.stringify(anthropicError("invalid_request_error", "max_tokens: too large")) },
    { body: begun(GOOD.anthropic) + anthropicEvent(anthropicError("overloaded_error", "Overloaded")) },
    { body: begun(GOOD.anthropic), isCut: true },
  ],
  gemini: [
    { status: 503, body: geminiError(503, "UNAVAILABLE", "The model is overloaded.") },
    { status: 400, body: geminiError(400, "INVALID_ARGUMENT", "API key not valid.") },
    { body: GOOD.gemini.slice(0, GOOD.gemini.length / 2), isCut: true },
  ],
};

for (const format of ["openai", "anthropic", "gemini"] as const) {
  describe(`the official client of ${format}`, () => {
    it("hears the same text and the same numbers as the tool, however the bytes come", async () => {
      const bytes = utf8(GOOD[format]);
      const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, n) => bytes.subarray(n * 7, n * 7 + 7));
      for (const body of [GOOD[format], pieces]) {
        await using server = await startModelServer(() => ({ body }));
        const heard = await SDKS[format](server.url);
        assert.equal(heard.text, ANSWER.texts.join(""));
        const kernel = await openInference(toolAt(providersAt(server)));
        const { raw } = await kernel.ask({ provider: format });
        const { text, input_tokens, output_tokens } = raw as unknown as Heard;
        assert.deepEqual({ text, input_tokens, output_tokens }, heard);
        const [theirs, ours] = server.requests;
        assert.equal(theirs?.path, ours?.path);
      }
    });

    it("refuses what the tool refuses", async () => {
      for (const [index, bad] of BAD[format].entries()) {
        await using server = await startModelServer(() => bad);
        await assert.rejects(SDKS[format](server.url), `${index}`);
        const { response } = await (await openInference(toolAt(providersAt(server)))).ask({ provider: format });
        assert.equal(response.result.case, "error", `${index}`);
      }
    });
  });
}
