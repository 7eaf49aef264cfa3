import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import OpenAI from "openai";
import { runAgent } from "../run/run-agent.ts";
import { openaiResponsesModel } from "./openai-responses-model.ts";
import { resultsIn } from "../run/testing/run-scripted.ts";
import { createFileSession } from "./testing/file-session.ts";
import { listIn, type ScriptedStream, startProvider } from "./testing/scripted-provider.ts";

const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };

/** A message of these output items: calls come in two pieces, texts in one. */
function answering(...output: JsonObject[]): ScriptedStream {
  const events = output.flatMap((item, output_index): JsonObject[] => {
    const { arguments: given = "", id = "" } = item;
    const place = { output_index, item_id: id };
    const added = { type: "response.output_item.added", output_index, item: { ...item, arguments: "" } };
    const done = { type: "response.output_item.done", output_index, item };
    if (item["type"] === "message") {
      return [added, { type: "response.output_text.delta", ...place, delta: item["said"] ?? "" }, done];
    }
    if (item["type"] === "reasoning") {
      return [added, { type: "response.reasoning_summary_text.delta", ...place, delta: "I wonder" }, done];
    }
    const half = Math.floor(String(given).length / 2);
    const pieces = [String(given).slice(0, half), String(given).slice(half)];
    const deltas = pieces.map((delta) => ({ type: "response.function_call_arguments.delta", ...place, delta }));
    return [added, ...deltas, done];
  });
  return numbered([
    { type: "response.created", response: { id: "resp", output: [] } },
    ...events,
    { type: "response.completed", response: { id: "resp", output, usage } },
  ]);
}

function numbered(events: readonly JsonObject[]): JsonObject[] {
  return events.map((event, sequence_number) => ({ ...event, sequence_number }));
}

function call(id: string, name: string, given: string): JsonObject {
  return { type: "function_call", id: `fc_${id}`, call_id: id, name, arguments: given, status: "completed" };
}

const reasoning = (id: string, encrypted_content?: string): JsonObject => ({
  type: "reasoning",
  id,
  summary: [{ type: "summary_text", text: "I wonder" }],
  ...(encrypted_content !== undefined && { encrypted_content }),
});
const saying = (said: string): JsonObject => ({ type: "message", id: "msg", role: "assistant", said, content: [] });

function clientOf(url: string): OpenAI {
  return new OpenAI({ apiKey: "none", baseURL: url, maxRetries: 0 });
}

/** What is encrypted comes only to those who ask for it, as from the provider itself. */
function asAsked(stream: ScriptedStream, { include }: JsonObject): ScriptedStream {
  if (Array.isArray(include) && include.includes("reasoning.encrypted_content")) return stream;
  const json = JSON.stringify(stream, (key, value: unknown) => (key === "encrypted_content" ? undefined : value));
  return JSON.parse(json) as ScriptedStream;
}

async function run(streams: readonly ScriptedStream[], parameters = {}) {
  let next = 0;
  await using provider = await startProvider((request) => asAsked(streams[next++] ?? [], request));
  const told: string[] = [];
  const result = await runAgent({
    session: await createFileSession(),
    model: openaiResponsesModel(clientOf(provider.url), "gpt-test", parameters),
    messages: [
      { role: "system", text: "Be brief." },
      { role: "user", text: "Look at a." },
    ],
    onEvent: ({ type }) => void told.push(type),
  });
  return { result, requests: provider.requests, told };
}

test("OpenAI's responses: a truncated message calls nothing, not even a call that looks complete", async () => {
  const early = answering(call("c", "file_write", '{"path":"a"}')).slice(0, -1);
  const { result, told } = await run([early]);
  assert.deepEqual([result.end, told], ["failed", ["turn"]]);
});

test("OpenAI's responses: an error of the provider ends the run with its message, and calls nothing", async () => {
  const error = { code: "server_error", message: "Overloaded" };
  const begun = answering(call("c", "file_write", '{"path":"a"}')).slice(0, -1) as JsonObject[];
  const { result, told } = await run([
    [...begun, { type: "response.failed", response: { error }, sequence_number: 99 }],
  ]);
  assert.deepEqual([result.end, told], ["failed", ["turn"]]);
  assert.match(result.error?.message ?? "", /Overloaded/);
});

test("OpenAI's responses: the last call of a truncated message is not made", async () => {
  const whole = answering(call("c1", "file_read", '{"path":"a"}'), call("c2", "file_write", '{"path":"b"}'));
  const output = [call("c1", "file_read", '{"path":"a"}'), call("c2", "file_write", '{"path":"b"}')];
  const response = { id: "resp", output, usage, incomplete_details: { reason: "max_output_tokens" } };
  const cut = [...whole.slice(0, -1), { type: "response.incomplete", response, sequence_number: 99 }];
  const { result } = await run([cut, answering(saying("Shorter, then."))]);
  const results = resultsIn(result.messages);
  assert.equal(results[0], "content of a");
  assert.match(results[1] ?? "", /reached its length limit in the middle of this call/);
});

test("OpenAI's responses: corrects malformed calls, and sends reasoning back unchanged, before its call", async () => {
  const streams = [
    answering(
      reasoning("rs_1", "one=="),
      saying("I look."),
      call("call_1", "file_read", '{"path": "a'),
      reasoning("rs_2", "two=="),
      call("call_2", "file_read", '{"pth":"a"}'),
    ),
    answering(reasoning("rs_3"), call("call_3", "file_read", '{"path":"\\u00e9"}')),
    answering(saying("It is there.")),
  ];
  const include = ["message.output_text.logprobs"];
  const { result, requests, told } = await run(streams, { temperature: 0, reasoning: { effort: "low" }, include });
  assert.deepEqual([result.end, result.text, result.cost], ["answered", "It is there.", 3 * 15 + 1]);
  assert.ok(told.includes("reasoning"));
  const [first, , last] = requests;
  assert.deepEqual(
    [first?.["model"], first?.["temperature"], first?.["store"], first?.["stream"]],
    ["gpt-test", 0, false, true],
  );
  assert.deepEqual(first?.["include"], [...include, "reasoning.encrypted_content"]);
  assert.deepEqual(listIn(first, "tools")[0], {
    type: "function",
    name: "file_read",
    description: "Reads a file.",
    parameters: {
      type: "object",
      properties: { path: { type: "string" } },
      required: ["path"],
      additionalProperties: false,
    },
    strict: true,
  });
  const results = resultsIn(result.messages);
  assert.match(results[0] ?? "", /^Tool execution failed: the arguments are not valid JSON: /);
  assert.match(results[1] ?? "", /^Tool execution failed: missing required field 'path' in arguments\n/);
  const sent = (call_id: string, given: string) => ({
    type: "function_call",
    call_id,
    name: "file_read",
    arguments: given,
  });
  const answered = (call_id: string, output = "") => ({ type: "function_call_output", call_id, output });
  assert.deepEqual(last?.["input"], [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Look at a." },
    reasoning("rs_1", "one=="),
    { role: "assistant", content: "I look." },
    sent("call_1", "{}"),
    reasoning("rs_2", "two=="),
    sent("call_2", '{"pth":"a"}'),
    answered("call_1", results[0]),
    answered("call_2", results[1]),
    sent("call_3", '{"path":"é"}'),
    answered("call_3", "content of é"),
  ]);
});

test("OpenAI's responses: a provider that stores the conversation gets its reasoning back by id", async () => {
  const streams = [
    answering(reasoning("rs_1"), call("call_1", "file_read", '{"path":"a"}')),
    answering(saying("There.")),
  ];
  const { requests } = await run(streams, { store: true, reasoning: { effort: "low" } });
  assert.deepEqual(listIn(requests[1], "input")[2], reasoning("rs_1"));
  assert.equal(requests[0]?.["include"], undefined);
});

test("OpenAI's responses: requests no reasoning from a model without it", async () => {
  const { requests } = await run([answering(saying("There."))]);
  assert.equal(requests[0]?.["include"], undefined);
});
