import assert from "node:assert/strict";
import { test } from "node:test";
import { GoogleGenAI } from "@google/genai";
import type { JsonObject } from "@narthex/contracts";
import { runAgent } from "../run/run-agent.ts";
import type { AgentMessage } from "./agent-message.ts";
import { geminiModel } from "./gemini-model.ts";
import { resultsIn } from "../run/testing/run-scripted.ts";
import { createFileSession } from "./testing/file-session.ts";
import { listIn, type ScriptedStream, startScriptedProvider } from "./testing/scripted-provider.ts";

const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 4, thoughtsTokenCount: 1, totalTokenCount: 15 };

function chunk(parts: JsonObject[], more: JsonObject = {}): JsonObject {
  return { candidates: [{ content: { role: "model", parts }, ...more }], usageMetadata };
}

const ended = (finishReason: string, more: JsonObject = {}): JsonObject => chunk([], { finishReason, ...more });
const call = (args: JsonObject, more: JsonObject = {}): JsonObject => ({
  functionCall: { name: "file_read", args },
  ...more,
});

async function run(streams: readonly ScriptedStream[], messages: readonly AgentMessage[] = []) {
  await using provider = await startScriptedProvider(...streams);
  const client = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl: provider.url } });
  const told: string[] = [];
  const result = await runAgent({
    session: await createFileSession(),
    model: geminiModel(client, "gemini-test", { temperature: 0 }),
    messages: [{ role: "system", text: "Be brief." }, ...messages, { role: "user", text: "Look at a." }],
    onEvent: ({ type }) => void told.push(type),
  });
  return { result, requests: provider.requests, told };
}

test("Gemini: a truncated message calls nothing, not even a call that looks complete", async () => {
  const { result, told } = await run([[chunk([call({ path: "a" })])]]);
  assert.deepEqual([result.end, told], ["failed", ["turn"]]);
});

test("Gemini: a blocked message or prompt ends the run with the reason, and calls nothing", async () => {
  const blocked = { promptFeedback: { blockReason: "PROHIBITED_CONTENT" } };
  for (const [stream, reason] of [
    [[chunk([call({ path: "a" })]), ended("SAFETY")], /the message was ended: SAFETY/],
    [[blocked], /the prompt was blocked: PROHIBITED_CONTENT/],
  ] as const) {
    const { result, told } = await run([stream]);
    assert.deepEqual([result.end, told.includes("call")], ["failed", false]);
    assert.match(result.error?.message ?? "", reason);
  }
});

test("Gemini: the last call of a truncated message is not made", async () => {
  const cut = [chunk([call({ path: "a" }), call({ path: "b" })]), ended("MAX_TOKENS")];
  const { result } = await run([cut, [chunk([{ text: "So." }]), ended("STOP")]]);
  const [first, second] = resultsIn(result.messages);
  assert.equal(first, "content of a");
  assert.match(second ?? "", /reached its length limit in the middle of this call/);
});

test("Gemini: corrects malformed calls, and sends the model's output back unchanged, signatures included", async () => {
  const signed = call({ pth: "a" }, { thoughtSignature: "c2ln" });
  const own = { functionCall: { id: "g", name: "file_read", args: { path: "b" } } };
  const { result, requests, told } = await run([
    [
      chunk([{ text: "I wonder", thought: true }]),
      chunk([{ text: "I " }]),
      chunk([{ text: "look." }, signed]),
      chunk([own]),
      ended("STOP"),
    ],
    [chunk([call({ path: "a" })]), ended("STOP")],
    [chunk([{ text: "Both are there." }]), ended("STOP")],
  ]);
  assert.deepEqual([result.end, result.text, result.cost], ["answered", "Both are there.", 3 * 15 + 2]);
  assert.ok(told.includes("reasoning"));
  const [first, second, third] = requests;
  assert.deepEqual(first?.["systemInstruction"], { role: "user", parts: [{ text: "Be brief." }] });
  assert.deepEqual(first?.["generationConfig"], { temperature: 0 });
  assert.deepEqual(listIn(first, "contents"), [{ role: "user", parts: [{ text: "Look at a." }] }]);
  const [wrong, right, corrected] = resultsIn(result.messages);
  assert.match(wrong ?? "", /^Tool execution failed: missing required field 'path' in arguments\n/);
  assert.deepEqual([right, corrected], ["content of b", "content of a"]);
  const name = "file_read";
  assert.deepEqual(listIn(second, "contents").slice(1), [
    { role: "model", parts: [{ text: "I wonder", thought: true }, { text: "I look." }, signed, own] },
    {
      role: "user",
      parts: [
        { functionResponse: { name, response: { error: wrong } } },
        { functionResponse: { id: "g", name, response: { output: right } } },
      ],
    },
  ]);
  assert.deepEqual(listIn(third, "contents").slice(3), [
    { role: "model", parts: [call({ path: "a" })] },
    { role: "user", parts: [{ functionResponse: { name, response: { output: corrected } } }] },
  ]);
});

test("Gemini: corrects a call that Gemini itself reports as malformed", async () => {
  const finishMessage = "Malformed function call: file_read(path=";
  const { result, requests } = await run([
    [ended("MALFORMED_FUNCTION_CALL", { finishMessage })],
    [chunk([call({ path: "a" })]), ended("STOP")],
    [chunk([{ text: "There." }]), ended("STOP")],
  ]);
  assert.deepEqual([result.end, result.text], ["answered", "There."]);
  const [told, read] = resultsIn(result.messages);
  assert.match(told ?? "", /^Tool execution failed: the arguments are not valid JSON/);
  assert.equal(read, "content of a");
  const name = "malformed_function_call";
  assert.deepEqual(listIn(requests[1], "contents").slice(1), [
    {
      role: "model",
      parts: [{ functionCall: { name, args: {} }, thoughtSignature: "skip_thought_signature_validator" }],
    },
    { role: "user", parts: [{ functionResponse: { name, response: { error: told } } }] },
  ]);
});

test("Gemini: continues a conversation of another model", async () => {
  const before: readonly AgentMessage[] = [
    { role: "user", text: "Look." },
    {
      role: "assistant",
      text: "I look.",
      calls: [{ id: "x", name: "file_read", arguments: '{"path":"a"}' }],
      kept: [
        { type: "thinking", thinking: "I wonder", signature: "sig==" },
        { callsBefore: 0, item: { type: "reasoning", id: "rs_1", summary: [] } },
      ],
    },
    { role: "tool", callId: "x", name: "file_read", text: "content of a", isError: false },
  ];
  const { requests } = await run([[chunk([{ text: "Again?" }]), ended("STOP")]], before);
  const made = call({ path: "a" }, { thoughtSignature: "skip_thought_signature_validator" });
  const output = { functionResponse: { name: "file_read", response: { output: "content of a" } } };
  assert.deepEqual(listIn(requests[0], "contents"), [
    { role: "user", parts: [{ text: "Look." }] },
    { role: "model", parts: [{ text: "I look." }, made] },
    { role: "user", parts: [output, { text: "Look at a." }] },
  ]);
});
