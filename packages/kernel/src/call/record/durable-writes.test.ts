import assert from "node:assert/strict";
import { test } from "node:test";
import { createCountingTool, createMemoryStore, createTestKernel, echoTool, type MemoryStore } from "@narthex/testkit";

/** Each append is one transaction, and resolves once it is durable. */
function counting(store: MemoryStore): { readonly store: MemoryStore; readonly appends: () => number } {
  let appends = 0;
  const counted: MemoryStore = {
    ...store,
    append(write) {
      appends++;
      return store.append(write);
    },
  };
  return { store: counted, appends: () => appends };
}

test("a read-only call waits for one durable write, and any other for two", async () => {
  const { store, appends } = counting(createMemoryStore());
  const { open } = await createTestKernel({ tools: [echoTool, createCountingTool().tool], store });
  const session = await open();
  // The first session's records are written with the first ones.
  await session.call("echo", {});
  for (const [tool, writes] of [
    ["echo", 1],
    ["count", 2],
    ["echo", 1],
  ] as const) {
    const before = appends();
    assert.equal((await session.call(tool, {})).status, "success");
    assert.equal(appends() - before, writes, tool);
  }
});

test("a refused, invalid or unknown call costs one durable write, and so does a repeat", async () => {
  const { store, appends } = counting(createMemoryStore());
  const { open } = await createTestKernel({ tools: [createCountingTool().tool], store });
  const session = await open();
  await session.call("count", {}, { requestId: "first" });
  for (const [tool, requestId] of [
    ["absent", "a"],
    ["count", "first"],
  ] as const) {
    const before = appends();
    await session.call(tool, {}, { requestId });
    assert.equal(appends() - before, 1, tool);
  }
});
