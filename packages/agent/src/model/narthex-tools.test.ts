import assert from "node:assert/strict";
import { test } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { JsonObject } from "@narthex/contracts";
import { defineTool } from "@narthex/kernel";
import { createTestKernel } from "@narthex/testkit";
import { stepCountIs, streamText, type ToolSet } from "ai";
import { createAgentSession } from "../session/agent-session.ts";
import { narthexTools } from "./narthex-tools.ts";
import { createFileSession } from "./testing/file-session.ts";
import { listIn, type ScriptedStream, startScriptedProvider } from "./testing/scripted-provider.ts";

function chunk(delta: JsonObject, finish_reason: string | null = null): JsonObject {
  return { id: "c", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }] };
}

function calling(...calls: readonly (readonly [name: string, given: string])[]): ScriptedStream {
  const tool_calls = calls.map(([name, given], index) => ({
    index,
    id: `call_${index}`,
    type: "function",
    function: { name, arguments: given },
  }));
  return [chunk({ role: "assistant", tool_calls }), chunk({}, "tool_calls"), "[DONE]"];
}

const answer: ScriptedStream = [chunk({ content: "Done." }), chunk({}, "stop"), "[DONE]"];

async function run(url: string, tools: ToolSet) {
  const model = createOpenAICompatible({ name: "scripted", baseURL: url })("m");
  const result = streamText({ model, prompt: "Do it.", tools, stopWhen: stepCountIs(5), maxRetries: 0 });
  return result.text;
}

function toolMessages(request: JsonObject | undefined): unknown[] {
  return listIn(request, "messages")
    .filter(({ role }) => role === "tool")
    .map(({ content }) => content);
}

test("the AI SDK: its loop calls the kernel, and a malformed call is corrected", async () => {
  await using provider = await startScriptedProvider(
    calling(["file_read", '{"pth":"a"}']),
    calling(["file_read", '{"path":']),
    calling(["file_read", '{"path":"a"}'], ["file_write", '{"path":"b"}']),
    answer,
  );
  assert.equal(await run(provider.url, narthexTools(await createFileSession())), "Done.");
  const [first, malformed, unread, last] = provider.requests;
  const tools = first?.["tools"] as { function: JsonObject }[];
  assert.deepEqual(tools[0]?.function["parameters"], {
    type: "object",
    properties: { path: { type: "string" } },
    required: ["path"],
    additionalProperties: false,
  });
  assert.match(
    String(toolMessages(malformed)[0]),
    /^Tool execution failed: missing required field 'path' in arguments\n/,
  );
  assert.match(String(toolMessages(unread)[1]), /Invalid input for tool file_read|JSON/);
  assert.deepEqual(toolMessages(last).slice(2), ["content of a", "wrote b"]);
});

test("the AI SDK: calls with effects run one after the other, though the SDK starts them at once", async () => {
  const log: string[] = [];
  const note = defineTool({
    name: "note",
    description: "Notes.",
    inputSchema: { type: "object", properties: { as: { type: "string" } }, required: ["as"] },
    tier: "side_effecting",
    run: async ({ as }) => {
      log.push(`+${as}`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`-${as}`);
      return as;
    },
  });
  const { kernel, open } = await createTestKernel({ tools: [note] });
  const calls = ["a", "b", "c"].map((as) => ["note", JSON.stringify({ as })] as const);
  await using provider = await startScriptedProvider(calling(...calls), answer);
  await run(provider.url, narthexTools(createAgentSession(kernel, await open())));
  assert.deepEqual(log, ["+a", "-a", "+b", "-b", "+c", "-c"]);
});
