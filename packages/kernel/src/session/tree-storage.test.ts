import assert from "node:assert/strict";
import { test } from "node:test";
import { createMemoryStore, createTestKernel, echoTool } from "@narthex/testkit";
import { codeOf, nextRandom, delegate } from "./testing/delegated-session.ts";

const settings = { maxStoredBytes: 10_000 };
/** 2,500 bytes as JSON, which count as input and as result. */
const text = "x".repeat(2498);

test("sessions of one tree share their storage limit, and another tree does not", async () => {
  const at = await createTestKernel({ tools: [echoTool], settings });
  const [root, other] = [await at.open(), await at.open()];
  const child = await delegate(at, root, { lease: {} });
  assert.equal(codeOf(await root.call("echo", text)), "success");
  assert.equal(codeOf(await child.call("echo", text)), "success");
  for (const session of [root, child, await delegate(at, root, { lease: {} })]) {
    assert.equal(codeOf(await session.call("echo", 1)), "BUDGET_EXCEEDED");
  }
  assert.equal(codeOf(await other.call("echo", text)), "success");
  await at.kernel.close();
});

test("rejects a result or uploaded content that exceeds a session's storage limit", async () => {
  const at = await createTestKernel({ tools: [{ ...echoTool, run: () => "y".repeat(20_000) }], settings });
  const session = await at.open();
  assert.equal(codeOf(await session.call("echo", 1)), "RESOURCE_EXCEEDED");
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(9000);
    yield new Uint8Array(2000);
  }
  const put = { door: "test", sessionId: session.id, labels: [], chunks: chunks() };
  await assert.rejects(at.kernel.putContent(put), { code: "BUDGET_EXCEEDED" });
  await at.kernel.close();
});

test("stored bytes of a session and of its ended children still count after a restart", async () => {
  const store = createMemoryStore();
  const tools = [{ ...echoTool, run: () => "y".repeat(4000) }];
  const at = await createTestKernel({ tools, settings, store });
  const root = await at.open();
  const child = await delegate(at, root, { lease: {} });
  await root.call("echo", 1);
  await child.call("echo", 1);
  await at.kernel.closeSession(child.id);
  const again = await createTestKernel({ tools, settings, store, random: nextRandom() });
  const result = await again.kernel.callInProcess({ token: root.token, tool: "echo", input: 1 });
  assert.equal(codeOf(result), "RESOURCE_EXCEEDED");
  await again.kernel.close();
});
