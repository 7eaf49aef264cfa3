/**
 * A model by `@anthropic-ai/sdk` on a session: it gets one call wrong and corrects it, is refused another by a rule, and
 * answers. The model here follows a script, so that this runs anywhere; `new Anthropic()` takes its place. Run it with
 * `npm run example -- anthropic`.
 */
import assert from "node:assert/strict";
import { existsSync as exists, mkdtempSync as makeDirectory, writeFileSync as writeFile } from "node:fs";
import Anthropic from "@anthropic-ai/sdk";
import { anthropicModel, createKernel, runAgent } from "narthex";
import { startModelServer } from "../model-server/start-model-server.ts";

const rules = `
  @id("docs-only") @message("this agent writes documentation")
  forbid(principal == Agent::"writer", action in [Action::"file_write", Action::"file_edit"], resource)
  unless { context.path like "docs/*" };
`;
const kernel = await createKernel({
  data: makeDirectory("/tmp/narthex-home-"),
  policies: [{ name: "writer.cedar", text: rules }],
});
const workspace = makeDirectory("/tmp/workspace-");
writeFile(`${workspace}/sum.js`, "export const sum = (a, b) => a + b;\n");
// Tools never work as root: a workspace of root's is handed over.
const session = await kernel.session({ workspace, agent: "writer", adopt: true });

await using server = await startModelServer(
  { call: "file_read", arguments: '{"path": 1}' },
  { call: "file_read", arguments: '{"path": "sum.js"}' },
  { call: "file_write", arguments: '{"path": "sum.md", "content": "`sum` adds two numbers."}' },
  { answer: "`sum` adds two numbers. I may only write below docs." },
);
const client = new Anthropic({ apiKey: "none", baseURL: server.url });
const { end, text, messages } = await runAgent({
  session,
  model: anthropicModel(client, "model", { max_tokens: 4096 }),
  messages: [{ role: "user", text: "What does sum.js do? Write it to sum.md." }],
  limits: { turns: 10, timeMs: 60_000 },
  onEvent: (event) => {
    if (event.type === "result") console.log(`${event.call.name} ${event.call.arguments}\n  ${event.outcome.text}`);
  },
});
console.log(text);

const told = messages.flatMap((message) => (message.role === "tool" ? [message.text] : []));
assert.equal(end, "answered");
assert.match(told[0] ?? "", /^Tool execution failed: field 'path' in arguments: expected string, got /);
assert.match(told[1] ?? "", /^export const sum/);
assert.match(told[2] ?? "", /^Denied by rule docs-only .*this agent writes documentation/);
assert.match(text, /^`sum` adds two numbers\./);
assert.ok(!exists(`${workspace}/sum.md`));
await kernel.close();
