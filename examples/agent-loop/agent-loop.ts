/**
 * A model at work: it reads a file, gets one call wrong and corrects it, is refused another, and answers. The model here
 * follows a script, so that this runs anywhere; `openaiModel(client, name)` and `anthropicModel(client, name)` put a real
 * one in its place. Run it with `npm run example -- agent-loop`.
 */
import assert from "node:assert/strict";
import { mkdtempSync as makeDirectory } from "node:fs";
import { createKernel, defineTool, type ModelClient, type ModelEvent, runAgent } from "narthex";

const notes = new Map([["today.md", "Call Ann."]]);
const properties = { name: { type: "string" } } as const;
const readNote = defineTool({
  name: "read_note",
  description: "Reads a note.",
  inputSchema: { type: "object", properties, required: ["name"], additionalProperties: false },
  resultType: "string",
  tier: "read_only",
  run: ({ name }) => notes.get(name) ?? "There is no such note.",
});
const dropNote = defineTool({
  name: "drop_note",
  description: "Drops a note.",
  inputSchema: { type: "object", properties, required: ["name"], additionalProperties: false },
  tier: "side_effecting",
  run: ({ name }) => notes.delete(name),
});
const rules = `
  @id("notes") permit(principal, action in [Action::"read_note", Action::"drop_note"], resource);
  @id("keep-today") @message("today's note stays") forbid(principal, action == Action::"drop_note", resource)
  when { context.input.name == "today.md" };
`;

const call = (id: string, name: string, args: string): ModelEvent => ({
  type: "calls",
  calls: [{ id, name, arguments: args }],
});
const script: ModelEvent[] = [
  call("1", "read_note", '{"nme": "today.md"}'),
  call("2", "read_note", '{"name": "today.md"}'),
  call("3", "drop_note", '{"name": "today.md"}'),
  { type: "text", text: "The note says to call Ann. I may not drop it." },
];
const model: ModelClient = {
  async *stream({ messages }) {
    const said = script[messages.filter(({ role }) => role === "assistant").length];
    if (said !== undefined) yield said;
  },
};

const kernel = await createKernel({
  data: makeDirectory("/tmp/narthex-home-"),
  tools: [readNote, dropNote],
  policies: [{ name: "notes.cedar", text: rules }],
});
const session = await kernel.session({ workspace: makeDirectory("/tmp/workspace-"), agent: "example" });
const { end, text, messages } = await runAgent({
  session,
  model,
  messages: [{ role: "user", text: "What is on for today? Drop the note when you have read it." }],
  limits: { turns: 10, timeMs: 60_000 },
  onEvent: (event) => {
    if (event.type === "result") console.log(`${event.call.name} ${event.call.arguments}\n  ${event.outcome.text}`);
  },
});
console.log(text);

const results = messages.flatMap((message) => (message.role === "tool" ? [message.text] : []));
assert.equal(end, "answered");
assert.match(results[0] ?? "", /^Tool execution failed: missing required field 'name' in arguments\n/);
assert.equal(results[1], "Call Ann.");
assert.match(results[2] ?? "", /^Denied by rule keep-today .*today's note stays/);
assert.equal(notes.size, 1);
await kernel.close();
