/**
 * A model by the `openai` package on a session: it gets one call wrong and corrects it, is refused another by a rule, and
 * answers. The model here follows a script, so that this runs anywhere; `new OpenAI()` takes its place, or one with the
 * `baseURL` of any server that speaks chat completions. Run it with `npm run example -- openai`.
 */
import assert from "node:assert/strict";
import { existsSync as exists, mkdtempSync as makeDirectory, writeFileSync as writeFile } from "node:fs";
import { createKernel, openaiModel, runAgent } from "narthex";
import OpenAI from "openai";
import { startModelServer } from "../model-server/start-model-server.ts";

const rules = `
  @id("keep-plan") @message("the plan stays")
  forbid(principal, action == Action::"file_delete", resource)
  when { context.path == "plan.md" };
`;
const kernel = await createKernel({
  data: makeDirectory("/tmp/narthex-home-"),
  policies: [{ name: "plan.cedar", text: rules }],
});
const workspace = makeDirectory("/tmp/workspace-");
writeFile(`${workspace}/plan.md`, "We ship on Thursday.\n");
// Tools never work as root: a workspace of root's is handed over.
const session = await kernel.session({ workspace, agent: "example", adopt: true });

await using server = await startModelServer(
  { call: "file_read", arguments: '{"file": "plan.md"}' },
  { call: "file_read", arguments: '{"path": "plan.md"}' },
  { call: "file_delete", arguments: '{"path": "plan.md"}' },
  { answer: "We ship on Thursday. I may not delete the plan." },
);
const client = new OpenAI({ apiKey: "none", baseURL: server.url });
const { end, text, messages } = await runAgent({
  session,
  model: openaiModel(client, "model", { temperature: 0 }),
  messages: [{ role: "user", text: "When do we ship? Delete the plan when you have read it." }],
  limits: { turns: 10, timeMs: 60_000 },
  onEvent: (event) => {
    if (event.type === "result") console.log(`${event.call.name} ${event.call.arguments}\n  ${event.outcome.text}`);
  },
});
console.log(text);

const told = messages.flatMap((message) => (message.role === "tool" ? [message.text] : []));
assert.equal(end, "answered");
assert.match(told[0] ?? "", /^Tool execution failed: missing required field 'path' in arguments\n/);
assert.equal(told[1], "We ship on Thursday.\n");
assert.match(told[2] ?? "", /^Denied by rule keep-plan .*the plan stays/);
assert.match(text, /^We ship on Thursday\./);
assert.ok(exists(`${workspace}/plan.md`));
await kernel.close();
