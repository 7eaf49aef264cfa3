/**
 * A run that breaks off and is taken up: the provider fails in the middle of the work, and everything is closed, as if the
 * process had been killed. The second time the run goes on where it stopped, with the note written once.
 * Run it with `npm run example -- agent-resume`.
 */
import assert from "node:assert/strict";
import { mkdtempSync as makeDirectory } from "node:fs";
import { join } from "node:path";
import { createKernel, defineTool, type ModelClient, type ModelEvent, openTranscriptFile, runAgent } from "narthex";

const data = makeDirectory("/tmp/narthex-home-");
const kept = join(makeDirectory("/tmp/narthex-run-"), "transcript");
const notes: string[] = [];
const addNote = defineTool({
  name: "add_note",
  description: "Adds a note.",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  tier: "side_effecting",
  run: ({ text }) => notes.push(text),
});
const rule = '@id("notes") permit(principal, action == Action::"add_note", resource);';
const open = () => createKernel({ data, tools: [addNote], policies: [{ name: "notes.cedar", text: rule }] });

const script: ModelEvent[] = [
  { type: "calls", calls: [{ id: "1", name: "add_note", arguments: '{"text": "Call Ann."}' }] },
  { type: "text", text: "It is noted." },
];
let isDown = true;
const model: ModelClient = {
  async *stream({ messages }) {
    const said = script[messages.filter(({ role }) => role === "assistant").length];
    if (said?.type === "text" && isDown) throw new Error("the provider is down");
    if (said !== undefined) yield said;
  },
};

/** What a program does each time it is started: the same. */
async function start(token: string) {
  const kernel = await open();
  const transcript = await openTranscriptFile(kept);
  const session = await kernel.resumeSession(token);
  const messages = [{ role: "user", text: "Note that I am to call Ann." }] as const;
  const result = await runAgent({ session, model, messages, transcript });
  await transcript.close();
  await kernel.close();
  return result;
}

const first = await open();
const { token } = await first.session({ workspace: makeDirectory("/tmp/workspace-") });
await first.close();

assert.equal((await start(token)).end, "failed");
isDown = false;
const { end, text, turns } = await start(token);
console.log(text);
assert.deepEqual([end, text, turns], ["answered", "It is noted.", 2]);
assert.deepEqual(notes, ["Call Ann."]);
assert.equal((await start(token)).text, "It is noted.");
