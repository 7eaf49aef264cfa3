import assert from "node:assert/strict";
import { mkdtempSync as makeDirectory } from "node:fs";
import { createKernel, defineTool } from "narthex";

const shout = defineTool({
  name: "shout",
  description: "Says a text louder.",
  inputSchema: { type: "object", required: ["text"], properties: { text: { type: "string" } } },
  tier: "read_only",
  determinism: "pure",
  run: ({ text }) => ({ louder: text.toUpperCase() }), // `text` is a string here: the type comes from the schema
});
const rule = '@id("may-shout") permit(principal, action == Action::"shout", resource);';

const kernel = await createKernel({
  data: makeDirectory("/tmp/narthex-home-"),
  tools: [shout],
  policies: [{ name: "shout.cedar", text: rule }],
});
const session = await kernel.session({ workspace: makeDirectory("/tmp/workspace-") });
const said = await session.call("shout", { text: "hello" }); // and said.hash, .proof, .sideEffects, .metadata
assert.deepEqual(said.value, { louder: "HELLO" });
const wrong = await session.callTool("shout", { txt: 1 }); // `call` would not compile: names and inputs are typed
assert.equal(wrong.code, "INVALID_INPUT"); // .message names every problem; recorded like the rest
await kernel.close();
console.log(`shout ended with ${said.status}, the wrong input with ${wrong.status}; the ledger has both`);
