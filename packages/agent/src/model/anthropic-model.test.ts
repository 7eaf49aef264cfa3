import assert from "node:assert/strict";
import { test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import type { JsonObject } from "@narthex/contracts";
import { runAgent } from "../run/run-agent.ts";
import { anthropicModel } from "./anthropic-model.ts";
import { createFileSession } from "./testing/file-session.ts";
import { listIn, type ScriptedStream, startScriptedProvider } from "./testing/scripted-provider.ts";

const start: JsonObject = {
  type: "message_start",
  message: {
    id: "m",
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    stop_reason: null,
    usage: { input_tokens: 10, cache_read_input_tokens: 2, output_tokens: 1 },
  },
};

const end = (stop_reason: string): JsonObject[] => [
  { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 8 } },
  { type: "message_stop" },
];

/** A content block with its deltas. */
function block(index: number, content_block: JsonObject, ...deltas: JsonObject[]): JsonObject[] {
  return [
    { type: "content_block_start", index, content_block },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}

function toolUse(index: number, id: string, name: string, ...pieces: string[]): JsonObject[] {
  const deltas = pieces.map((partial_json) => ({ type: "input_json_delta", partial_json }));
  return block(index, { type: "tool_use", id, name, input: {} }, ...deltas);
}

const thinking = block(
  0,
  { type: "thinking", thinking: "", signature: "" },
  { type: "thinking_delta", thinking: "I " },
  { type: "thinking_delta", thinking: "wonder" },
  { type: "signature_delta", signature: "sig==" },
);
const text = (index: number, said: string) =>
  block(index, { type: "text", text: "" }, { type: "text_delta", text: said });

const SCRIPT: readonly ScriptedStream[] = [
  [
    start,
    ...thinking,
    ...text(1, "I look."),
    ...toolUse(2, "toolu_1", "file_read", '{"pth": ', '"a"}'),
    ...toolUse(3, "toolu_2", "file_read", '{"path": "b"'),
    ...end("tool_use"),
  ],
  [
    start,
    ...toolUse(0, "toolu_3", "file_read", '{"path": "a"}'),
    ...toolUse(1, "toolu_4", "file_write", '{"path": "b"}'),
    ...end("tool_use"),
  ],
  [start, ...text(0, "Both are there."), ...end("end_turn")],
];

test("the Anthropic SDK: corrects malformed calls, keeps results together, and sends reasoning back unchanged", async () => {
  await using provider = await startScriptedProvider(...SCRIPT);
  const client = new Anthropic({ apiKey: "none", baseURL: provider.url, maxRetries: 0 });
  const result = await runAgent({
    session: await createFileSession(),
    model: anthropicModel(client, "claude-test", { max_tokens: 100 }),
    messages: [
      { role: "system", text: "Be brief." },
      { role: "user", text: "Look at a and b." },
    ],
  });
  assert.deepEqual([result.end, result.text, result.cost], ["answered", "Both are there.", 3 * (12 + 8) + 2]);
  const [first, second, third] = provider.requests;
  assert.deepEqual([first?.["model"], first?.["max_tokens"], first?.["system"]], ["claude-test", 100, "Be brief."]);
  assert.deepEqual(listIn(first, "tools")[0], {
    name: "file_read",
    description: "Reads a file.",
    input_schema: {
      type: "object",
      properties: { path: { type: "string" } },
      required: ["path"],
      additionalProperties: false,
    },
  });
  const shape = "\nExpected arguments: { path: string }";
  const told = [
    `Tool execution failed: missing required field 'path' in arguments\nTool execution failed: field 'pth' in arguments: unknown field 'pth'; allowed: path${shape}`,
    `Tool execution failed: the arguments are not valid JSON: the text ends where \`,\` or \`}\` is due${shape}`,
  ];
  const results = listIn(second, "messages").at(-1);
  assert.deepEqual(second?.["messages"], [
    { role: "user", content: [{ type: "text", text: "Look at a and b." }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "I wonder", signature: "sig==" },
        { type: "text", text: "I look." },
        { type: "tool_use", id: "toolu_1", name: "file_read", input: { pth: "a" } },
        { type: "tool_use", id: "toolu_2", name: "file_read", input: {} },
      ],
    },
    results,
  ]);
  assert.deepEqual(results, {
    role: "user",
    content: [
      { type: "tool_result", tool_use_id: "toolu_1", content: told[0], is_error: true },
      { type: "tool_result", tool_use_id: "toolu_2", content: told[1], is_error: true },
    ],
  });
  assert.deepEqual(listIn(third, "messages").at(-1), {
    role: "user",
    content: [
      { type: "tool_result", tool_use_id: "toolu_3", content: "content of a", is_error: false },
      { type: "tool_result", tool_use_id: "toolu_4", content: "wrote b", is_error: false },
    ],
  });
});

test("the Anthropic SDK: an error in the stream ends the run with its message, and calls nothing", async () => {
  const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
  await using provider = await startScriptedProvider([start, ...toolUse(0, "t", "file_write", '{"path":"a"}'), error]);
  const client = new Anthropic({ apiKey: "none", baseURL: provider.url, maxRetries: 0 });
  const {
    end: ended,
    error: fault,
    messages,
  } = await runAgent({
    session: await createFileSession(),
    model: anthropicModel(client, "claude-test"),
    messages: [{ role: "user", text: "Write." }],
  });
  assert.equal(ended, "failed");
  assert.match(fault?.message ?? "", /Overloaded/);
  assert.equal(messages.length, 1);
});

test("the Anthropic SDK: a truncated message calls nothing, not even a call that looks complete", async () => {
  const events = [start, ...toolUse(0, "t", "file_write", '{"path":"a"}'), ...toolUse(1, "u", "file_write")];
  await using provider = await startScriptedProvider(events);
  const client = new Anthropic({ apiKey: "none", baseURL: provider.url, maxRetries: 0 });
  const told: string[] = [];
  const { end: ended } = await runAgent({
    session: await createFileSession(),
    model: anthropicModel(client, "claude-test"),
    messages: [{ role: "user", text: "Write." }],
    onEvent: ({ type }) => void told.push(type),
  });
  assert.deepEqual([ended, told], ["failed", ["turn"]]);
});

test("the Anthropic SDK: omits another provider's opaque data, and sends its calls", async () => {
  await using provider = await startScriptedProvider([start, ...text(0, "So."), ...end("end_turn")]);
  const client = new Anthropic({ apiKey: "none", baseURL: provider.url, maxRetries: 0 });
  const calls = [{ id: "x", name: "file_read", arguments: '{"path":"a"}' }];
  const kept = [
    { functionCall: { name: "file_read", args: { path: "a" } }, thoughtSignature: "c2ln" },
    { callsBefore: 0, item: { type: "reasoning", id: "rs_1", summary: [] } },
    { type: "redacted_thinking", data: "own" },
  ];
  await runAgent({
    session: await createFileSession(),
    model: anthropicModel(client, "claude-test"),
    messages: [
      { role: "user", text: "Look." },
      { role: "assistant", text: "I look.", calls, kept },
      { role: "tool", callId: "x", name: "file_read", text: "content of a", isError: false },
    ],
  });
  assert.deepEqual(listIn(provider.requests[0], "messages")[1], {
    role: "assistant",
    content: [
      { type: "redacted_thinking", data: "own" },
      { type: "text", text: "I look." },
      { type: "tool_use", id: "x", name: "file_read", input: { path: "a" } },
    ],
  });
});
