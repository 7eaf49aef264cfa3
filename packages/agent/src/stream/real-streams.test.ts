import assert from "node:assert/strict";
import { test } from "node:test";
import { GoogleGenAI } from "@google/genai";
import type { JsonObject } from "@narthex/contracts";
import OpenAI from "openai";
import { declareTools } from "../declare/declare-tools.ts";
import { toGeminiTools } from "../declare/gemini-tools.ts";
import { toOpenaiResponsesTools } from "../declare/openai-tools.ts";
import { startScriptedProvider } from "../model/testing/scripted-provider.ts";
import { readGemini } from "./read-gemini.ts";
import { readOpenaiResponses } from "./read-openai-responses.ts";
import { accumulate } from "./testing/accumulate.ts";

const { decls } = declareTools([
  {
    name: "file_read",
    description: "Reads a file.",
    inputSchema: { type: "object", properties: { path: { type: "string", minLength: 1 } }, required: ["path"] },
  },
]);

async function gather(stream: AsyncIterable<unknown>): Promise<unknown[]> {
  const events: unknown[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

test("the Gemini SDK sends the declarations unchanged, and its stream yields the calls", async () => {
  const part = (functionCall: JsonObject): JsonObject => ({
    candidates: [{ content: { role: "model", parts: [{ functionCall }] } }],
  });
  await using provider = await startScriptedProvider([
    part({ name: "file_read", args: { path: "a" } }),
    part({ id: "g", name: "file_read", args: { path: "b" } }),
  ]);
  const client = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl: provider.url } });
  const tools = toGeminiTools(decls);
  const stream = await client.models.generateContentStream({ model: "m", contents: "Read.", config: { tools } });
  assert.deepEqual(accumulate(readGemini, await gather(stream)), [
    { id: "made_0", name: "file_read", arguments: '{"path":"a"}' },
    { id: "g", name: "file_read", arguments: '{"path":"b"}' },
  ]);
  const path = { type: "string", description: "Further rules: minLength: 1" };
  assert.deepEqual(provider.requests[0]?.["tools"], [
    {
      functionDeclarations: [
        {
          name: "file_read",
          description: "Reads a file.",
          parametersJsonSchema: { type: "object", properties: { path }, required: ["path"] },
        },
      ],
    },
  ]);
});

test("the OpenAI SDK sends the declarations unchanged, and its stream of responses yields the calls", async () => {
  const item = { type: "function_call", id: "i", call_id: "c", name: "file_read" };
  const delta = (text: string, sequence_number: number): JsonObject => ({
    type: "response.function_call_arguments.delta",
    output_index: 1,
    item_id: "i",
    delta: text,
    sequence_number,
  });
  await using provider = await startScriptedProvider([
    { type: "response.output_item.added", output_index: 0, sequence_number: 0, item: { type: "reasoning", id: "r" } },
    { type: "response.output_item.added", output_index: 1, sequence_number: 1, item: { ...item, arguments: "" } },
    delta('{"pa', 2),
    delta('th":"a"}', 3),
    { type: "response.completed", sequence_number: 4, response: { id: "r", output: [] } },
  ]);
  const client = new OpenAI({ apiKey: "none", baseURL: provider.url, maxRetries: 0 });
  const tools = toOpenaiResponsesTools(decls);
  const stream = await client.responses.create({ model: "m", input: "Read.", stream: true, tools });
  assert.deepEqual(accumulate(readOpenaiResponses, await gather(stream)), [
    { id: "c", name: "file_read", arguments: '{"path":"a"}' },
  ]);
  assert.deepEqual(provider.requests[0]?.["tools"], tools);
});
