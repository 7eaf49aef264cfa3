import assert from "node:assert/strict";
import { describe, it } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import type { ModelRequest } from "./model-request.ts";
import { type ModelStep, startScriptedModel } from "./scripted-model.ts";

const SCHEMA = { type: "object" as const, properties: { path: { type: "string" } } };
const PIXEL = "iVBORw0KGgo=";
const ANSWER = "exit code 0";
const INPUT = { path: "a b/ü.txt" };

/** A loop of two requests with an official client: the model calls a tool, is given its answer, and says a text. */
interface Loop {
  /** Gives the call that was read from the first stream, and the text of the second. */
  run(url: string, tools: boolean): Promise<{ readonly call: unknown; readonly text: string }>;
  readonly namespace?: string;
}

const LOOPS: Readonly<Record<string, Loop>> = {
  "Anthropic messages": {
    async run(url, tools) {
      const client = new Anthropic({ baseURL: url, apiKey: "k", maxRetries: 0 });
      const ask = (messages: Anthropic.MessageParam[]) =>
        client.messages
          .stream({
            model: "m-1",
            max_tokens: 100,
            system: "be brief",
            messages,
            ...(tools && { tools: [{ name: "look", input_schema: SCHEMA }] }),
          })
          .finalMessage();
      const question = { role: "user" as const, content: "go on" };
      const first = await ask([question]);
      const call = first.content.find((block) => block.type === "tool_use");
      if (call === undefined) return { call, text: textOf(first) };
      const image = { type: "base64" as const, media_type: "image/png" as const, data: PIXEL };
      const content = [
        { type: "text" as const, text: ANSWER },
        { type: "image" as const, source: image },
      ];
      const result = { type: "tool_result" as const, tool_use_id: call.id, content };
      const second = await ask([question, first, { role: "user", content: [result] }]);
      return { call: { name: call.name, input: call.input }, text: textOf(second) };
    },
  },
  "OpenAI chat completions": {
    async run(url, tools) {
      const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "k", maxRetries: 0 });
      const ask = async (messages: OpenAI.ChatCompletionMessageParam[]) => {
        const tool = { type: "function" as const, function: { name: "look", parameters: SCHEMA } };
        const stream = client.chat.completions.stream({ model: "m-1", messages, ...(tools && { tools: [tool] }) });
        const { choices } = await stream.finalChatCompletion();
        return choices[0]?.message ?? assert.fail("no choice");
      };
      const question: OpenAI.ChatCompletionMessageParam[] = [
        { role: "system", content: "be brief" },
        { role: "user", content: "go on" },
      ];
      const first = await ask(question);
      const [call] = first.tool_calls ?? [];
      if (call?.type !== "function") return { call: undefined, text: first.content ?? "" };
      const image = { type: "image_url" as const, image_url: { url: `data:image/png;base64,${PIXEL}` } };
      const second = await ask([
        ...question,
        { role: "assistant", tool_calls: [call] },
        { role: "tool", tool_call_id: call.id, content: ANSWER },
        { role: "user", content: [image] },
      ]);
      const { name, arguments: words } = call.function;
      return { call: { name, input: JSON.parse(words) }, text: second.content ?? "" };
    },
  },
  "OpenAI responses": {
    namespace: "mcp",
    async run(url, tools) {
      const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "k", maxRetries: 0 });
      const look = { type: "function" as const, name: "look", parameters: SCHEMA, strict: false };
      const ask = (input: OpenAI.Responses.ResponseInput) =>
        client.responses
          .stream({
            model: "m-1",
            instructions: "be brief",
            input,
            ...(tools && { tools: [{ type: "namespace" as const, name: "mcp", description: "", tools: [look] }] }),
          })
          .finalResponse();
      const question = { role: "user" as const, content: "go on" };
      const first = await ask([question]);
      const [call] = first.output;
      if (call?.type !== "function_call") return { call: undefined, text: first.output_text };
      const output = [
        { type: "input_text" as const, text: ANSWER },
        { type: "input_image" as const, image_url: `data:image/png;base64,${PIXEL}` },
      ];
      const second = await ask([question, call, { type: "function_call_output", call_id: call.call_id, output }]);
      const { name, namespace, arguments: words } = call;
      return { call: { name, namespace, input: JSON.parse(words) }, text: second.output_text };
    },
  },
  Gemini: {
    async run(url, tools) {
      const client = new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl: url } });
      const ask = async (...contents: object[]) => {
        const look = { name: "look", parametersJsonSchema: SCHEMA };
        const config = { systemInstruction: "be brief", ...(tools && { tools: [{ functionDeclarations: [look] }] }) };
        const stream = await client.models.generateContentStream({ model: "m-1", contents, config });
        const chunks = await Array.fromAsync(stream);
        return {
          text: chunks
            .flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? [])
            .map((part) => part.text ?? ""),
          call: chunks.flatMap(({ functionCalls }) => functionCalls ?? [])[0],
        };
      };
      const question = { role: "user", parts: [{ text: "go on" }] };
      const first = await ask(question);
      if (first.call === undefined) return { call: undefined, text: first.text.join("") };
      const { name, args } = first.call;
      const parts = [
        { functionResponse: { name, response: { output: ANSWER } } },
        { inlineData: { mimeType: "image/png", data: PIXEL } },
      ];
      const second = await ask(
        question,
        { role: "model", parts: [{ functionCall: first.call }] },
        { role: "user", parts },
      );
      return { call: { name, input: args }, text: second.text.join("") };
    },
  },
};

for (const [title, { run, namespace }] of Object.entries(LOOPS)) {
  describe(`a scripted model by ${title}`, () => {
    const call = { name: "look", ...(namespace !== undefined && { namespace }), input: INPUT };
    const script = ({ calls }: ModelRequest): ModelStep => (calls.length === 0 ? call : { say: "all done" });

    it("calls a tool and then says a text, as the official client reads it", async () => {
      await using model = await startScriptedModel(script);
      assert.deepEqual(await run(model.url, true), { call, text: "all done" });
    });

    it("keeps each request as the model sees it", async () => {
      await using model = await startScriptedModel(script);
      await run(model.url, true);
      const [first, second, ...more] = model.turns;
      assert.deepEqual(more, []);
      assert.equal(first?.instructions.trim(), "be brief");
      assert.deepEqual(first.prompts, ["go on"]);
      assert.deepEqual(
        first.tools.map((tool) => ({ ...tool, declaration: {} })),
        [{ name: "look", ...(namespace !== undefined && { namespace }), declaration: {} }],
      );
      assert.deepEqual([first.calls, first.results, first.media], [[], [], []]);
      assert.deepEqual(second?.calls, [{ name: "look" }]);
      assert.deepEqual(second.results, [{ text: ANSWER }]);
      assert.deepEqual(second.media, ["image/png"]);
    });

    it("leaves the script alone where a request declares no tools", async () => {
      await using model = await startScriptedModel(() => assert.fail("the script was asked"));
      assert.deepEqual(await run(model.url, false), { call: undefined, text: "Scripted" });
      assert.deepEqual(model.turns, []);
    });
  });
}

describe("a scripted model", () => {
  it("counts tokens, lists models, and rejects unknown paths in the provider's form", async () => {
    await using model = await startScriptedModel(() => ({ say: "" }));
    const anthropic = new Anthropic({ baseURL: model.url, apiKey: "k", maxRetries: 0 });
    const messages = [{ role: "user" as const, content: "go on" }];
    assert.equal((await anthropic.messages.countTokens({ model: "m-1", messages })).input_tokens, 1000);
    const openai = new OpenAI({ baseURL: `${model.url}/v1`, apiKey: "k", maxRetries: 0 });
    assert.deepEqual(
      (await Array.fromAsync(openai.models.list())).map(({ id }) => id),
      ["scripted"],
    );
    await assert.rejects(openai.files.list(), OpenAI.NotFoundError);
    const gemini = new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl: model.url } });
    assert.equal((await gemini.models.countTokens({ model: "m-1", contents: "go on" })).totalTokens, 1000);
  });
});

function textOf({ content }: Anthropic.Message): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
