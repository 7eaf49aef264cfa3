/** An agent gives a sub-agent a narrower lease. Run it with `npm run example -- delegation`. */
import assert from "node:assert/strict";
import { mkdtempSync as makeDirectory } from "node:fs";
import { createKernel, defineTool } from "narthex";

const look = defineTool({
  name: "look_up",
  description: "Looks a word up.",
  inputSchema: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
  resultType: "string",
  tier: "read_only",
  run: ({ word }) => `${word}: a word`,
});
const kernel = await createKernel({ data: makeDirectory("/tmp/narthex-home-"), tools: [look] });
const workspace = makeDirectory("/tmp/workspace-");
const session = await kernel.session({ workspace, agent: "planner", lease: { budgets: { calls: 10 } } });

// One tool, two calls, a minute. What is left out is the parent's own.
const child = await session.delegate({ lease: { tool_patterns: ["look_up"], budgets: { calls: 2 } }, ttlMs: 60_000 });
const found = await child.call("look_up", { word: "narthex" });
assert.equal(found.value, "narthex: a word");
const other = await child.call("file_read", { path: "secret.txt" });
assert.equal(other.code, "LEASE_SCOPE");
console.log(`sub-agent: ${other.status}, ${other.message}`);

// A child gets no more than its parent has.
await assert.rejects(child.delegate({ lease: { tool_patterns: ["shell_exec"] } }), { code: "LEASE_INVALID" });
// What it did not use comes back.
await child.close();
const left = (await kernel.getSession(session.id))?.budgetRemaining.calls;
console.log(`calls left to the parent: ${left}`);
assert.equal(left, 9);
await kernel.close();
