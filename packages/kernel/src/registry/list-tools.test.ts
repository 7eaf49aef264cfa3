import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestKernel, createTestPolicy, echoTool, permitAll } from "@narthex/testkit";
import { defineTool } from "../tool/define-tool.ts";

const fetcher = defineTool({
  name: "fetcher",
  description: "Fetches.",
  inputSchema: true,
  effects: ["net_read"],
  capabilities: [{ kind: "net_read", hosts: [] }],
  run: () => null,
});
const careful = defineTool({ ...fetcher, name: "careful", narrow: () => ({ effects: [], tier: "read_only" }) });
const online = defineTool({ ...careful, name: "online", needsAnyOf: ["net_read"] });
const tools = [echoTool, fetcher, careful, online];

async function shown(options: Partial<Parameters<typeof createTestKernel>[0]>, lease = {}): Promise<string[]> {
  const { kernel, open } = await createTestKernel({ tools, ...options });
  const { id } = await open({ lease });
  return kernel.listTools({ sessionId: id, allVersions: false }).map(({ declaration }) => declaration.name);
}

test("hides a tool that needs a capability the lease lacks, unless some inputs may need less", async () => {
  assert.deepEqual(await shown({ policy: permitAll(tools) }), ["careful", "echo"]);
  const capabilities = [{ kind: "net_read", hosts: [{ host: "a.example" }] }];
  assert.deepEqual(await shown({ policy: permitAll(tools) }, { capabilities }), [
    "careful",
    "echo",
    "fetcher",
    "online",
  ]);
});

test("hides a tool that no rule could permit, except in observe mode", async () => {
  const policy = createTestPolicy([{ id: "echo", action: "echo" }], tools);
  assert.deepEqual(await shown({ policy }), ["echo"]);
  assert.deepEqual(await shown({ policy, policyMode: "observe" }), ["careful", "echo"]);
});

test("hides a tool outside the lease, whatever the policy and its mode", async () => {
  const policy = permitAll(tools);
  assert.deepEqual(await shown({ policy, policyMode: "observe" }, { tool_patterns: ["echo"] }), ["echo"]);
});
