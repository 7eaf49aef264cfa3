import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isKernelError, utf8 } from "@narthex/contracts";
import {
  anthropicError,
  anthropicEvent,
  anthropicStream,
  geminiError,
  geminiStream,
  openaiError,
  openaiStream,
  type ScriptedResponse,
} from "@narthex/testkit";
import * as fc from "fast-check";
import { anthropicFormat } from "./anthropic-format.ts";
import { geminiFormat } from "./gemini-format.ts";
import { type ModelFormat, StreamedError } from "./model-format.ts";
import { openaiFormat } from "./openai-format.ts";
import { type InferenceResponse, readInferenceResponse } from "./read-inference-response.ts";

interface Case {
  readonly format: ModelFormat;
  readonly stream: (answer: ScriptedResponse) => string;
  readonly stop: string;
}

const CASES: Readonly<Record<string, Case>> = {
  openai: { format: openaiFormat, stream: openaiStream, stop: "stop" },
  anthropic: { format: anthropicFormat, stream: anthropicStream, stop: "end_turn" },
  gemini: { format: geminiFormat, stream: geminiStream, stop: "STOP" },
};

const ANSWER = { model: "m-1", texts: ["Hel", "lo, ", "🐲 wörld"], inputTokens: 25, outputTokens: 15 };

async function* pieces(...chunks: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield typeof chunk === "string" ? utf8(chunk) : chunk;
}

const read = (format: ModelFormat, ...chunks: readonly (string | Uint8Array)[]): Promise<InferenceResponse> =>
  readInferenceResponse(pieces(...chunks), format, 1000);

/** The answer, or undefined if there was none; any other fault fails the test. */
async function wholeOrNone(format: ModelFormat, ...chunks: readonly (string | Uint8Array)[]) {
  try {
    return await read(format, ...chunks);
  } catch (fault) {
    assert.ok(
      fault instanceof StreamedError || (isKernelError(fault) && fault.code === "UPSTREAM_ERROR"),
      String(fault),
    );
    return undefined;
  }
}

for (const [name, { format, stream, stop }] of Object.entries(CASES)) {
  const whole = stream({ ...ANSWER, stop });
  describe(`a stream of ${name}`, () => {
    it("cut short anywhere gives the whole answer or none, never another", async () => {
      const bytes = utf8(whole);
      const expected = await read(format, bytes);
      let refused = 0;
      for (let end = 0; end < bytes.length; end++) {
        const answer = await wholeOrNone(format, bytes.subarray(0, end));
        if (answer === undefined) refused++;
        else assert.deepEqual(answer, expected);
      }
      assert.ok(refused > bytes.length * 0.9);
    });

    it("gives the same answer however it is cut into pieces, with either end of lines", async () => {
      const expected = {
        text: "Hello, 🐲 wörld",
        stopReason: "end",
        model: "m-1",
        use: { inputTokens: 25, outputTokens: 15 },
      };
      await fc.assert(
        fc.asyncProperty(fc.array(fc.nat(), { maxLength: 20 }), fc.boolean(), async (places, withReturns) => {
          const lines = whole.replaceAll("\r\n", "\n");
          const bytes = utf8(withReturns ? lines.replaceAll("\n", "\r\n") : lines);
          const ends = [...places.map((place) => place % bytes.length), bytes.length].toSorted((a, b) => a - b);
          const chunks = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
          assert.deepEqual(await read(format, ...chunks), expected);
        }),
        { numRuns: 100 },
      );
      assert.deepEqual(await read(format, ...Array.from(utf8(whole), (byte) => Uint8Array.of(byte))), expected);
    });

    it("is read past comments, pings and unknown events", async () => {
      const noise = ': keep-alive\n\nevent: new_thing\ndata: {"type": "new_thing", "choices": 5, "candidates": {}}\n\n';
      const noisy = whole.replaceAll(/(\r?\n){2}/g, (end) => `${end}${noise}`);
      assert.deepEqual(await read(format, noisy), await read(format, whole));
    });

    it("that holds no JSON, or JSON of another shape, gives no answer and no crash", async () => {
      for (const data of ["{", "hello", "<html>"]) {
        await assert.rejects(read(format, `data: ${data}\n\n${whole}`), { code: "UPSTREAM_ERROR" }, data);
      }
      const shape = fc.record(
        { type: fc.constantFrom("message_start", "content_block_delta", "message_delta", "x"), ...shapes("delta") },
        { requiredKeys: [] },
      );
      await fc.assert(
        fc.asyncProperty(fc.array(shape, { maxLength: 5 }), async (events) => {
          const made = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
          await wholeOrNone(format, made);
        }),
        { numRuns: 200 },
      );
    });

    it("that does not end is left", async () => {
      let sent = 0;
      const [first = ""] = whole.split(/(?<=\n\r?\n)/);
      const comment = utf8(`: ${"x".repeat(60_000)}\n`);
      const endless = async function* (chunk: Uint8Array) {
        yield utf8(first);
        for (;;) {
          sent += chunk.length;
          yield chunk;
        }
      };
      await assert.rejects(readInferenceResponse(endless(comment), format, 10), /more than an answer of 10 tokens/);
      assert.ok(sent < 2_000_000);
      const texts = Array.from({ length: 200 }, () => "word ".repeat(100));
      await assert.rejects(
        readInferenceResponse(pieces(stream({ ...ANSWER, stop, texts })), format, 10),
        /more text than/,
      );
    });

    it("with missing or impossible token counts yields a response of unknown usage", async () => {
      for (const outputTokens of [Number.MAX_SAFE_INTEGER, 2e9, ...(format.hasEndMark ? [-1, 0.5] : [])]) {
        assert.equal((await read(format, stream({ ...ANSWER, stop, outputTokens }))).use, undefined, `${outputTokens}`);
      }
      const mute = whole.replaceAll(/"(usage|usageMetadata)":/g, '"other":');
      assert.deepEqual(await read(format, mute), { ...(await read(format, whole)), use: undefined });
    });
  });
}

function shapes(...fields: readonly string[]) {
  const value = fc.jsonValue({ maxDepth: 3 });
  const names = [...fields, "choices", "usage", "candidates", "message", "content_block", "usageMetadata", "model"];
  return Object.fromEntries(names.map((name) => [name, value]));
}

describe("the reason why a model stopped", () => {
  it("has one word for all providers", async () => {
    const words: Readonly<Record<string, Readonly<Record<string, string>>>> = {
      openai: {
        stop: "end",
        length: "max_tokens",
        content_filter: "refusal",
        tool_calls: "tool_use",
        function_call: "tool_use",
        new_reason: "other",
      },
      anthropic: {
        end_turn: "end",
        max_tokens: "max_tokens",
        model_context_window_exceeded: "max_tokens",
        stop_sequence: "stop_sequence",
        tool_use: "tool_use",
        refusal: "refusal",
        pause_turn: "other",
        new_reason: "other",
      },
      gemini: {
        STOP: "end",
        MAX_TOKENS: "max_tokens",
        SAFETY: "refusal",
        RECITATION: "refusal",
        PROHIBITED_CONTENT: "refusal",
        MALFORMED_FUNCTION_CALL: "tool_use",
        OTHER: "other",
        NEW_REASON: "other",
      },
    };
    for (const [name, { format, stream }] of Object.entries(CASES)) {
      for (const [stop, expected] of Object.entries(words[name] ?? {})) {
        assert.equal((await read(format, stream({ ...ANSWER, stop }))).stopReason, expected, `${name} ${stop}`);
      }
    }
  });

  it("is a refusal where the text is one, and where the prompt was blocked", async () => {
    const refused = openaiStream({ ...ANSWER, stop: "stop" }).replaceAll('"content":"Hel"', '"refusal":"Hel"');
    const answer = await read(openaiFormat, refused);
    assert.deepEqual([answer.stopReason, answer.text], ["refusal", "Hello, 🐲 wörld"]);
    const blocked = { promptFeedback: { blockReason: "SAFETY" }, usageMetadata: { promptTokenCount: 4 } };
    assert.deepEqual(await read(geminiFormat, `data: ${JSON.stringify(blocked)}\r\n\r\n`), {
      text: "",
      stopReason: "refusal",
      model: "",
      use: { inputTokens: 4, outputTokens: 0 },
    });
  });
});

describe("an error inside a stream", () => {
  const bodyOf = async (format: ModelFormat, text: string): Promise<unknown> => {
    const fault: unknown = await read(format, text).catch((thrown: unknown) => thrown);
    assert.ok(fault instanceof StreamedError, String(fault));
    return fault.body;
  };

  it("ends it, also after a part of the answer", async () => {
    const overloaded = anthropicError("overloaded_error", "Overloaded");
    const begun = anthropicStream({ ...ANSWER, stop: "end_turn" }).split("event: content_block_stop")[0] ?? "";
    assert.deepEqual(await bodyOf(anthropicFormat, begun + anthropicEvent(overloaded)), overloaded);
    const openai = openaiError("The server had an error", "server_error");
    assert.deepEqual(await bodyOf(openaiFormat, `data: ${openai}\n\ndata: [DONE]\n\n`), JSON.parse(openai));
    const gemini = geminiError(503, "UNAVAILABLE", "The model is overloaded.");
    assert.deepEqual(await bodyOf(geminiFormat, `data: ${gemini.replaceAll("\n", "")}\r\n\r\n`), JSON.parse(gemini));
  });

  it("is understood where it is a plain body instead of an event", async () => {
    const gemini = geminiError(500, "INTERNAL", "An internal error has occurred.");
    const begun = geminiStream({ ...ANSWER, stop: "STOP" }).split("\r\n\r\n")[0] ?? "";
    assert.deepEqual(await bodyOf(geminiFormat, `${begun}\r\n\r\n${gemini}`), JSON.parse(gemini));
    assert.deepEqual(await bodyOf(openaiFormat, gemini), JSON.parse(gemini));
  });
});

describe("what a model answers", () => {
  it("is whole where a character came in two halves, and well formed where it did not", async () => {
    const halves = openaiStream({ ...ANSWER, texts: ["\ud83d", "\udc32"], stop: "stop" });
    assert.equal((await read(openaiFormat, halves)).text, "🐲");
    const lone = openaiStream({ ...ANSWER, texts: ["a\ud83d"], stop: "stop" });
    assert.equal((await read(openaiFormat, lone)).text, "a\ufffd");
  });

  it("is not what it thought, or what it would call", async () => {
    const thought = { candidates: [{ content: { parts: [{ text: "hm", thought: true }, { functionCall: {} }] } }] };
    const whole = geminiStream({ ...ANSWER, stop: "STOP" });
    assert.equal((await read(geminiFormat, `data: ${JSON.stringify(thought)}\n\n${whole}`)).text, "Hello, 🐲 wörld");
    const thinking = { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "hm" } };
    const json = { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: "{" } };
    const message = anthropicStream({ ...ANSWER, stop: "end_turn" });
    const { text } = await read(anthropicFormat, anthropicEvent(thinking) + anthropicEvent(json) + message);
    assert.equal(text, "Hello, 🐲 wörld");
  });

  it("counts what came from a cache and what was thought", async () => {
    const cached = anthropicStream({ ...ANSWER, inputTokens: 0, stop: "end_turn" }).replace(
      '"input_tokens":0',
      '"input_tokens":0,"cache_read_input_tokens":5,"cache_creation_input_tokens":2',
    );
    assert.deepEqual((await read(anthropicFormat, cached)).use, { inputTokens: 7, outputTokens: 15 });
    const thought = geminiStream({ ...ANSWER, stop: "STOP" }).replace(
      '"candidatesTokenCount":15',
      '"candidatesTokenCount":15,"thoughtsTokenCount":100,"toolUsePromptTokenCount":1',
    );
    assert.deepEqual((await read(geminiFormat, thought)).use, { inputTokens: 26, outputTokens: 115 });
  });
});
