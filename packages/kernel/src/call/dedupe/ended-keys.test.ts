import assert from "node:assert/strict";
import { test } from "node:test";
import { createCountingTool, createMemoryStore, createTestKernel } from "@narthex/testkit";
import { dedupeRowPrefix } from "../../journal/dedupe-row.ts";

test("a dedupe key has no meaning after its session ended, in that session or the next", async () => {
  const store = createMemoryStore();
  const counting = createCountingTool();
  const { open, kernel } = await createTestKernel({ tools: [counting.tool], store });
  const first = await open();
  await first.call("count", {}, { dedupeKey: "key" });
  await kernel.closeSession(first.id);
  assert.deepEqual(await store.listState("dedupe", dedupeRowPrefix(first.id), 10), []);
  const again = await first.call("count", {}, { dedupeKey: "key" });
  assert.equal(again.response.result.case === "denied" && again.response.result.value.rationaleCode, "SESSION_CLOSED");
  assert.equal(counting.count(), 1);
  const next = await open();
  assert.deepEqual((await next.call("count", {}, { dedupeKey: "key" })).raw, { count: 2 });
});
