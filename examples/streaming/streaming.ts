/** A tool that answers while it runs. Run it with `npm run example -- streaming`. */
import assert from "node:assert/strict";
import { mkdtempSync as makeDirectory } from "node:fs";
import { createKernel, defineTool } from "narthex";

const countdown = defineTool({
  name: "countdown",
  description: "Counts down.",
  inputSchema: { type: "object", properties: { from: { type: "integer", maximum: 100 } }, required: ["from"] },
  resultType: "stream",
  tier: "read_only",
  redactors: [{ secrets: ["hunter2"], replacement: "[hidden]" }],
  async *run({ from }, { signal }) {
    for (let n = from; n > 0 && !signal.aborted; n--) yield Buffer.from(`${n} hunter2\n`);
  },
});
const kernel = await createKernel({ data: makeDirectory("/tmp/narthex-home-"), tools: [countdown] });
const session = await kernel.session({ workspace: makeDirectory("/tmp/workspace-") });

const parts: string[] = [];
const result = await session.call(
  "countdown",
  { from: 3 },
  // Awaited: a slow reader slows the tool.
  { onChunk: (chunk) => void parts.push(Buffer.from(chunk).toString()) },
);
assert.ok(result.status === "success");
console.log(Buffer.from(result.value).toString());
assert.equal(parts.join(""), "3 [hidden]\n2 [hidden]\n1 [hidden]\n");
assert.equal(Buffer.from(result.value).toString(), parts.join(""));
await kernel.close();
