import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type Anthropic from "@anthropic-ai/sdk";
import type { GenerateContentResponse } from "@google/genai";
import { KernelError } from "@narthex/contracts";
import * as fc from "fast-check";
import type OpenAI from "openai";
import { runsOf } from "../../../../test/sampled.ts";
import type { DeltaReader, StreamedCall } from "./call-delta.ts";
import { readAiSdk } from "./read-ai-sdk.ts";
import { readAnthropic } from "./read-anthropic.ts";
import { readGemini } from "./read-gemini.ts";
import { readOpenaiChat } from "./read-openai-chat.ts";
import { readOpenaiResponses } from "./read-openai-responses.ts";
import { accumulate, chat, cutAt, objects, piece } from "./testing/accumulate.ts";

/** A provider's stream of some calls, with the arguments in pieces. */
interface Provider {
  readonly read: DeltaReader;
  start(call: StreamedCall, at: number): unknown;
  piece(call: StreamedCall, at: number, text: string, sequence: number): unknown;
}

const PROVIDERS: Readonly<Record<string, Provider>> = {
  "OpenAI chat": {
    read: readOpenaiChat,
    start: ({ id, name }, at) => piece(at, "", { id, type: "function", name }),
    piece: (_, at, text) => piece(at, text),
  },
  "OpenAI responses": {
    read: readOpenaiResponses,
    start: ({ id, name }, at) =>
      ({
        type: "response.output_item.added",
        output_index: at,
        sequence_number: 0,
        item: { type: "function_call", id: `item_${at}`, call_id: id, name, arguments: "" },
      }) satisfies OpenAI.Responses.ResponseStreamEvent,
    piece: (_, at, delta, sequence) =>
      ({
        type: "response.function_call_arguments.delta",
        output_index: at,
        item_id: `item_${at}`,
        delta,
        sequence_number: sequence,
      }) satisfies OpenAI.Responses.ResponseStreamEvent,
  },
  Anthropic: {
    read: readAnthropic,
    start: ({ id, name }, at) =>
      ({
        type: "content_block_start",
        index: at,
        content_block: { type: "tool_use", id, name, input: {}, caller: { type: "direct" } },
      }) satisfies Anthropic.RawMessageStreamEvent,
    piece: (_, at, partial_json) =>
      ({
        type: "content_block_delta",
        index: at,
        delta: { type: "input_json_delta", partial_json },
      }) satisfies Anthropic.RawMessageStreamEvent,
  },
  "AI SDK": {
    read: readAiSdk,
    start: ({ id, name }) => ({ type: "tool-input-start", id, toolName: name }),
    piece: ({ id }, _, delta) => ({ type: "tool-input-delta", id, delta }),
  },
};

const callLists = fc
  .array(fc.tuple(fc.constantFrom("file_read", "shell_exec", "git"), objects), { minLength: 1, maxLength: 4 })
  .map((calls) =>
    calls.map(([name, input], at): StreamedCall => ({ id: `id_${at}`, name, arguments: JSON.stringify(input) })),
  );
const cuts = fc.array(fc.nat(), { maxLength: 12 });

/** Events of several calls, as an arbitrary scheduler would mix them. */
function interleave(streams: readonly (readonly unknown[])[], order: readonly number[]): unknown[] {
  const rest = streams.map((stream) => [...stream]);
  const mixed: unknown[] = [];
  for (let turn = 0; rest.some((stream) => stream.length > 0); turn++) {
    const open = rest.filter((stream) => stream.length > 0);
    mixed.push(open[(order[turn % order.length] ?? 0) % open.length]?.shift());
  }
  return mixed;
}

for (const [name, provider] of Object.entries(PROVIDERS)) {
  test(`${name}: any calls, in any chunks and interleaved, are restored exactly`, () => {
    fc.assert(
      fc.property(callLists, cuts, fc.array(fc.nat(), { minLength: 1 }), (calls, places, order) => {
        let sequence = 1;
        const streams = calls.map((call, at) =>
          cutAt(call.arguments, places).map((text) => provider.piece(call, at, text, sequence++)),
        );
        const starts = calls.map((call, at) => provider.start(call, at));
        assert.deepEqual(accumulate(provider.read, [...starts, ...interleave(streams, order)]), calls);
      }),
      { numRuns: runsOf(60) },
    );
  });
}

test("Gemini: whole calls, with and without ids", () => {
  const chunk = (...calls: object[]) =>
    ({
      candidates: [{ content: { parts: [{ text: "So." }, ...calls.map((functionCall) => ({ functionCall }))] } }],
    }) satisfies Partial<GenerateContentResponse>;
  const events = [
    chunk({ name: "a", args: { x: 1 } }, { name: "a", args: { x: 1 } }),
    chunk({ id: "g1", name: "b" }),
    chunk({ id: "g1", name: "b" }),
  ];
  assert.deepEqual(accumulate(readGemini, events), [
    { id: "made_0", name: "a", arguments: '{"x":1}' },
    { id: "made_1", name: "a", arguments: '{"x":1}' },
    { id: "g1", name: "b", arguments: "{}" },
  ]);
});

test("no event causes an error other than a KernelError", () => {
  const readers = [readOpenaiChat, readOpenaiResponses, readAnthropic, readGemini, readAiSdk];
  const type = fc.constantFrom(
    "error",
    "response.failed",
    "response.output_item.added",
    "response.output_item.done",
    "response.completed",
    "response.function_call_arguments.delta",
    "content_block_start",
    "content_block_delta",
    "tool-input-start",
    "tool-input-delta",
    "tool-call",
  );
  const some = fc.anything({ maxDepth: 3 });
  const event = fc.oneof(
    some,
    fc.record(
      {
        type,
        index: some,
        output_index: some,
        item: some,
        item_id: some,
        delta: some,
        content_block: some,
        id: some,
        error: some,
        input: some,
        toolCallId: some,
        toolName: some,
      },
      { requiredKeys: ["type"] },
    ),
    fc.record({
      choices: fc.array(
        fc.record({
          delta: fc.record({
            tool_calls: fc.array(fc.record({ index: some, id: some, function: some }, { requiredKeys: [] })),
          }),
        }),
      ),
    }),
    fc.record({
      candidates: fc.array(fc.record({ content: fc.record({ parts: fc.array(fc.record({ functionCall: some })) }) })),
    }),
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 8 }), fc.constantFrom(...readers), (events, read) => {
      try {
        const calls = accumulate(read, events, { maxCharacters: 4000, maxCalls: 4 });
        assert.equal(new Set(calls.map(({ id }) => id)).size, calls.length);
        for (const call of calls) assert.ok(call.id !== "" && call.name !== "" && typeof call.arguments === "string");
      } catch (fault) {
        if (!(fault instanceof KernelError)) throw fault;
      }
    }),
    { numRuns: runsOf(300) },
  );
});

describe("ids and indexes", () => {
  test("generates a missing id, distinct from all other calls' ids", () => {
    const ids = ["taken", "taken", "fresh"];
    const events = [piece(0, "{}", { name: "a" }), piece(1, "{}", { id: "taken", name: "b" })];
    assert.deepEqual(
      accumulate(readOpenaiChat, events, { newId: () => ids.shift() ?? assert.fail() }).map(({ id }) => id),
      ["fresh", "taken"],
    );
  });

  test("one id at two indexes is two calls, and the second gets another id", () => {
    const events = [piece(0, "{}", { id: "x", name: "a" }), piece(1, '{"b":1}', { id: "x", name: "b" })];
    assert.deepEqual(accumulate(readOpenaiChat, events), [
      { id: "x", name: "a", arguments: "{}" },
      { id: "made_0", name: "b", arguments: '{"b":1}' },
    ]);
  });

  test("separates calls at the same index by id, or by name when ids are missing", () => {
    const withIds = [
      piece(0, '{"a":', { id: "x", name: "t" }),
      piece(0, '{"b":', { id: "y", name: "t" }),
      piece(0, "1}", { id: "x" }),
      piece(0, "2}", { id: "y" }),
    ];
    assert.deepEqual(accumulate(readOpenaiChat, withIds), [
      { id: "x", name: "t", arguments: '{"a":1}' },
      { id: "y", name: "t", arguments: '{"b":2}' },
    ]);
    const withNames = [piece(0, '{"a":1}', { name: "s" }), piece(0, '{"b":2}', { name: "t" })];
    assert.deepEqual(
      accumulate(readOpenaiChat, withNames).map((call) => [call.name, call.arguments]),
      [
        ["s", '{"a":1}'],
        ["t", '{"b":2}'],
      ],
    );
  });

  test("without index and id, a name starts a call and the following pieces extend it", () => {
    const bare = (text: string, name?: string) => chat({ function: { arguments: text, ...(name && { name }) } });
    const events = [bare('{"a"', "s"), bare(":1}"), bare('{"b":2}', "t")];
    assert.deepEqual(
      accumulate(readOpenaiChat, events).map((call) => [call.name, call.arguments]),
      [
        ["s", '{"a":1}'],
        ["t", '{"b":2}'],
      ],
    );
  });

  test("arguments for an unannounced id are assigned to no call", () => {
    const events = [
      { type: "tool-input-start", id: "x", toolName: "s" },
      { type: "tool-input-delta", id: "ghost", delta: '{"evil":1}' },
      { type: "tool-input-delta", id: "x", delta: "{}" },
    ];
    assert.deepEqual(accumulate(readAiSdk, events), [
      { id: "x", name: "s", arguments: "{}" },
      { id: "ghost", name: "unnamed_tool", arguments: '{"evil":1}' },
    ]);
  });

  test("a late start still names its call, and calls keep the order of their indexes", () => {
    const { start, piece: part } = PROVIDERS["Anthropic"] ?? assert.fail();
    const [first, second] = ["a", "b"].map((id): StreamedCall => ({ id, name: id, arguments: "{}" }));
    if (first === undefined || second === undefined) assert.fail();
    const events = [
      part(second, 3, "{", 0),
      part(first, 1, "{}", 0),
      start(second, 3),
      part(second, 3, "}", 0),
      start(first, 1),
    ];
    assert.deepEqual(accumulate(readAnthropic, events), [first, second]);
  });

  test("numbered pieces are sorted, and a repeated one counts once", () => {
    const { start, piece: part, read } = PROVIDERS["OpenAI responses"] ?? assert.fail();
    const call: StreamedCall = { id: "c", name: "t", arguments: '{"text":"abc"}' };
    const pieces = cutAt(call.arguments, [2, 5, 9]).map((text, at) => part(call, 0, text, at + 1));
    fc.assert(
      fc.property(fc.shuffledSubarray([start(call, 0), ...pieces, ...pieces], { minLength: 9 }), (events) => {
        assert.deepEqual(accumulate(read, events), [call]);
      }),
    );
  });

  test("complete arguments override the pieces", () => {
    const events = [
      ...["{", '"a":'].map((delta) => ({
        type: "response.function_call_arguments.delta",
        output_index: 0,
        item_id: "i",
        delta,
      })),
      {
        type: "response.output_item.done",
        output_index: 0,
        item: { type: "function_call", id: "i", call_id: "c", name: "t", arguments: '{"a":1}' },
      },
    ];
    assert.deepEqual(accumulate(readOpenaiResponses, events), [{ id: "c", name: "t", arguments: '{"a":1}' }]);
  });

  test("ignores calls that the provider runs itself", () => {
    const events = [
      {
        type: "content_block_start",
        index: 0,
        content_block: { type: "server_tool_use", id: "s", name: "web_search" },
      },
      { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"q":1}' } },
    ];
    assert.deepEqual(accumulate(readAnthropic, events), []);
    const call = { type: "tool-call", toolCallId: "s", toolName: "web_search", input: "{}", providerExecuted: true };
    assert.deepEqual(accumulate(readAiSdk, [call]), []);
  });
});

describe("bounds", () => {
  const exceeded = (fault: unknown) => fault instanceof KernelError && fault.code === "RESOURCE_EXCEEDED";

  test("limits calls and characters, even for empty pieces", () => {
    const many = Array.from({ length: 129 }, (_, at) => piece(at, "{}", { id: `${at}`, name: "t" }));
    assert.throws(() => accumulate(readOpenaiChat, many), exceeded);
    const long = [piece(0, "x".repeat(5000)), piece(0, "x".repeat(5000))];
    assert.throws(() => accumulate(readOpenaiChat, long, { maxCharacters: 8000 }), exceeded);
    const empty = Array.from({ length: 600 }, () => piece(0, ""));
    assert.throws(() => accumulate(readOpenaiChat, empty, { maxCharacters: 8000 }), exceeded);
    const glued = [piece(0, Array.from({ length: 60 }, (_, at) => `{"a":${at}}`).join(""))];
    assert.throws(() => accumulate(readOpenaiChat, [...glued, ...many.slice(0, 100)]), exceeded);
  });

  test("an error reported by the provider is an UPSTREAM_ERROR with its message", () => {
    for (const [read, event] of [
      [readAnthropic, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }],
      [readOpenaiChat, { error: { message: "Overloaded" } }],
      [readOpenaiResponses, { type: "response.failed", response: { error: { message: "Overloaded" } } }],
      [readAiSdk, { type: "error", error: new Error("Overloaded") }],
    ] as const) {
      assert.throws(
        () => accumulate(read, [event]),
        (fault: unknown) =>
          fault instanceof KernelError && fault.code === "UPSTREAM_ERROR" && /Overloaded/.test(fault.message),
      );
    }
  });
});
