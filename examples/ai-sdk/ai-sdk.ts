/**
 * An agent of the AI SDK whose tools go through Narthex: it gets one call wrong and corrects it, is refused another by a
 * rule, and answers. The model here follows a script, so that this runs anywhere; put any model of the SDK in its place.
 * Run it with `npm run example -- ai-sdk`.
 */
import assert from "node:assert/strict";
import { mkdtempSync as makeDirectory, writeFileSync as writeFile } from "node:fs";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { stepCountIs, streamText } from "ai";
import { createKernel, defineTool, narthexTools } from "narthex";
import { startModelServer } from "../model-server/start-model-server.ts";

// A function of yours, as a tool beside the built-in ones.
const release = { day: "Thursday" };
const moveRelease = defineTool({
  name: "move_release",
  description: "Moves the release to another day.",
  inputSchema: {
    type: "object",
    properties: { day: { type: "string" } },
    required: ["day"],
    additionalProperties: false,
  },
  tier: "side_effecting",
  run: ({ day }) => (release.day = day),
});
// Rules beside those of the kernel's home, which let agents read and write files of their workspace. A tool that is not
// read_only needs a rule of its own; with @approve("human") a person would be asked before each call.
const rules = `
  @id("move-release") permit(principal, action == Action::"move_release", resource);
  @id("no-friday") @message("nothing is released on a Friday")
  forbid(principal, action == Action::"move_release", resource)
  when { context.input.day == "Friday" };
`;

const kernel = await createKernel({
  data: process.env["NARTHEX_DATA"] ?? makeDirectory("/tmp/narthex-home-"),
  tools: [moveRelease],
  policies: [{ name: "release.cedar", text: rules }],
});
const workspace = makeDirectory("/tmp/workspace-");
writeFile(`${workspace}/plan.md`, "We ship on Thursday.\n");
// Tools never work as root: a workspace of root's is handed over.
const session = await kernel.session({ workspace, agent: "release-bot", adopt: true });

await using server = await startModelServer(
  { call: "file_read", arguments: '{"file": "plan.md"}' },
  { call: "file_read", arguments: '{"path": "plan.md"}' },
  { call: "move_release", arguments: '{"day": "Friday"}' },
  { answer: "We ship on Thursday. I may not make it a Friday." },
);
const result = streamText({
  model: createOpenAICompatible({ name: "scripted", baseURL: server.url })("model"),
  tools: narthexTools(session),
  prompt: "When do we ship? Make it Friday.",
  stopWhen: stepCountIs(10),
});
const text = await result.text;
const parts = (await result.steps).flatMap(({ content }) => content);
const told = parts.flatMap((part) => {
  if (part.type === "tool-result") return [String(part.output)];
  return part.type === "tool-error" ? [String(part.error)] : [];
});
console.log([...told, text].join("\n\n"));

assert.match(told[0] ?? "", /^Tool execution failed: missing required field 'path' in arguments\n/);
assert.equal(told[1], "We ship on Thursday.\n");
assert.match(told[2] ?? "", /^Denied by rule no-friday .*nothing is released on a Friday/);
assert.equal(release.day, "Thursday");
assert.match(text, /^We ship on Thursday\./);
await kernel.close();
