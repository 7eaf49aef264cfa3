import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import OpenAI from "openai";
import { runAgent } from "../run/run-agent.ts";
import { openaiModel } from "./openai-model.ts";
import { resultsIn } from "../run/testing/run-scripted.ts";
import { createFileSession } from "./testing/file-session.ts";
import { listIn, type ScriptedStream, startScriptedProvider } from "./testing/scripted-provider.ts";

function chunk(delta: JsonObject, finish_reason: string | null = null): JsonObject {
  const choices = [{ index: 0, delta, finish_reason }];
  return { id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices };
}

const usage = (prompt_tokens: number, completion_tokens: number): JsonObject => ({
  id: "c",
  object: "chat.completion.chunk",
  choices: [],
  usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
});

/** A message with one call, its arguments in these pieces. */
function calling(id: string, name: string, ...pieces: string[]): ScriptedStream {
  const first = { index: 0, id, type: "function", function: { name, arguments: "" } };
  return [
    chunk({ role: "assistant", content: null, tool_calls: [first] }),
    ...pieces.map((text) => chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] })),
    chunk({}, "tool_calls"),
    usage(10, 5),
    "[DONE]",
  ];
}

const answer: ScriptedStream = [
  chunk({ content: "It says " }),
  chunk({ content: "so." }),
  chunk({}, "stop"),
  usage(20, 2),
  "[DONE]",
];

function clientOf(url: string): OpenAI {
  return new OpenAI({ apiKey: "none", baseURL: url, maxRetries: 0 });
}

test("the OpenAI SDK: corrects a malformed call, and the conversation ends with the final message", async () => {
  await using provider = await startScriptedProvider(
    calling("call_1", "file_read", '{"pa', 'th": "a'),
    calling("call_2", "file_read", '{"pth":"a"}'),
    calling("call_3", "file_read", '{"path":"\\u00', 'e9.txt"}'),
    answer,
  );
  const { end, text, cost, messages } = await runAgent({
    session: await createFileSession(),
    model: openaiModel(clientOf(provider.url), "gpt-test", { temperature: 0 }),
    messages: [
      { role: "system", text: "Be brief." },
      { role: "user", text: "What does é.txt say?" },
    ],
  });
  assert.deepEqual([end, text, cost], ["answered", "It says so.", 15 * 3 + 22 + 1]);
  const results = resultsIn(messages);
  assert.match(results[0] ?? "", /^Tool execution failed: the arguments are not valid JSON: /);
  assert.match(results[1] ?? "", /^Tool execution failed: missing required field 'path' in arguments\n/);
  assert.equal(results[2], "content of é.txt");

  const [first, , , last] = provider.requests;
  assert.deepEqual(
    listIn(first, "tools").map(({ function: declared }) => declared),
    [
      {
        name: "file_read",
        description: "Reads a file.",
        parameters: {
          type: "object",
          properties: { path: { type: "string" } },
          required: ["path"],
          additionalProperties: false,
        },
        strict: true,
      },
      {
        name: "file_write",
        description: "Writes a file.",
        parameters: {
          type: "object",
          properties: { path: { type: "string" }, content: { type: "string" } },
          required: ["path"],
        },
        strict: false,
      },
    ],
  );
  assert.deepEqual([first?.["model"], first?.["temperature"], first?.["stream"]], ["gpt-test", 0, true]);
  const call = (id: string, given: string) => ({
    role: "assistant",
    content: null,
    tool_calls: [{ type: "function", id, function: { name: "file_read", arguments: given } }],
  });
  assert.deepEqual(last?.["messages"], [
    { role: "system", content: "Be brief." },
    { role: "user", content: "What does é.txt say?" },
    call("call_1", "{}"),
    { role: "tool", tool_call_id: "call_1", content: results[0] },
    call("call_2", '{"pth":"a"}'),
    { role: "tool", tool_call_id: "call_2", content: results[1] },
    call("call_3", '{"path":"é.txt"}'),
    { role: "tool", tool_call_id: "call_3", content: results[2] },
  ]);
});

test("the OpenAI SDK: a broken stream calls nothing and ends the run", async () => {
  const broken = calling("call_1", "file_write", '{"path":"a"}').slice(0, 2);
  await using provider = await startScriptedProvider([...broken, "cut"]);
  const events: string[] = [];
  const { end, messages } = await runAgent({
    session: await createFileSession(),
    model: openaiModel(clientOf(provider.url), "gpt-test"),
    messages: [{ role: "user", text: "Write." }],
    onEvent: ({ type }) => void events.push(type),
  });
  assert.equal(end, "failed");
  assert.equal(events.includes("call"), false);
  assert.equal(messages.length, 1);
});

test("the OpenAI SDK: a truncated message calls nothing, not even a call that looks complete", async () => {
  const early = calling("call_1", "file_write", '{"path":"a"}').slice(0, 2);
  await using provider = await startScriptedProvider(early);
  const told: string[] = [];
  const { end } = await runAgent({
    session: await createFileSession(),
    model: openaiModel(clientOf(provider.url), "gpt-test"),
    messages: [{ role: "user", text: "Write." }],
    onEvent: ({ type }) => void told.push(type),
  });
  assert.deepEqual([end, told], ["failed", ["turn"]]);
});

test("the OpenAI SDK: cancelling a run ends it while the model is still streaming", async () => {
  await using provider = await startScriptedProvider(Array.from({ length: 200 }, () => chunk({ content: "x" })));
  const cancelling = new AbortController();
  const { end } = await runAgent({
    session: await createFileSession(),
    model: openaiModel(clientOf(provider.url), "gpt-test"),
    messages: [{ role: "user", text: "Speak." }],
    signal: cancelling.signal,
    onEvent: ({ type }) => {
      if (type === "text") cancelling.abort();
    },
  });
  assert.equal(end, "cancelled");
});
