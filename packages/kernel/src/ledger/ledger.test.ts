import assert from "node:assert/strict";
import { test } from "node:test";
import { create, encode, equalBytes, hashRecord, ToolRequestSchema } from "@narthex/contracts";
import { createCountingTool, createMemoryStore, createTestKernel, echoTool } from "@narthex/testkit";
import { verifyLedger } from "@narthex/verify";

test("after a failed write the kernel stops: nothing runs, and an effect's outcome is unknown", async () => {
  const store = createMemoryStore();
  const failures: Error[] = [];
  const counting = createCountingTool("count", async () => store.failWith("the disk is gone"));
  const { open, kernel } = await createTestKernel({
    tools: [counting.tool, echoTool],
    store,
    onFailure: (failure) => void failures.push(failure),
  });
  const session = await open();
  const lost = await session.call("count", {});
  assert.ok(lost.response.result.case === "error" && lost.response.result.value.errorCode === "OUTCOME_UNKNOWN");
  const refused = await session.call("echo", 1);
  assert.ok(
    refused.response.result.case === "error" && refused.response.result.value.errorCode === "STORE_UNAVAILABLE",
  );
  assert.equal(failures.length, 1);
  assert.equal(kernel.closing, true);
});

test("a tool does not run if its intent cannot be written", async () => {
  const store = createMemoryStore();
  const counting = createCountingTool();
  const { open } = await createTestKernel({ tools: [counting.tool], store });
  const session = await open();
  store.failWith("the disk is gone");
  const refused = await session.call("count", {});
  assert.ok(
    refused.response.result.case === "error" && refused.response.result.value.errorCode === "STORE_UNAVAILABLE",
  );
  assert.equal(counting.count(), 0);
});

test("a response is sent only after its record is durable", async () => {
  const store = createMemoryStore();
  const { open } = await createTestKernel({ tools: [echoTool], store });
  const session = await open();
  const release = store.holdAppends();
  let answered = false;
  const call = session.call("echo", 1).then((result) => {
    answered = true;
    return result;
  });
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(answered, false);
  release();
  assert.equal((await call).status, "success");
});

test("a clock set back moves no time back, neither in the ledger nor for expiry", async () => {
  const { open, records, clock, kernel } = await createTestKernel({ tools: [echoTool] });
  const session = await open({ ttlMs: 1000 });
  clock.advance(2000);
  await open();
  clock.advance(-5000);
  const result = await session.call("echo", 1);
  assert.ok(
    result.response.result.case === "denied" && result.response.result.value.rationaleCode === "SESSION_EXPIRED",
  );
  await kernel.close();
  const times = (await records()).map((record) => Number(record.wallTimeMs));
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  );
});

test("groups requests without a session into one entry per door and reason, with a count", async () => {
  const { kernel, records } = await createTestKernel({ tools: [echoTool] });
  const request = create(ToolRequestSchema, {
    requestId: "r",
    sessionToken: "stranger",
    tool: { case: "call", value: { name: "echo", input: Buffer.from("1") } },
  });
  for (let i = 0; i < 500; i++) await kernel.call({ request: encode(request), door: "framed" });
  await kernel.call({ request: Buffer.from([0xff, 0xff]), door: "framed" });
  await kernel.close();
  const refused = (await records("system")).flatMap((record) =>
    record.entries.flatMap(({ kind }) => (kind.case === "requestRefused" ? [kind.value] : [])),
  );
  assert.deepEqual(
    refused.map((entry) => [entry.door, entry.reason, Number(entry.count)]),
    [
      ["framed", "SESSION_UNKNOWN", 500],
      ["framed", "INVALID_REQUEST", 1],
    ],
  );
});

test("records are hash-linked within their chain and verify without problems", async () => {
  const counting = createCountingTool();
  const { open, kernel, store } = await createTestKernel({ tools: [echoTool, counting.tool] });
  const [one, two] = [await open(), await open()];
  for (let i = 0; i < 5; i++) {
    await Promise.all([
      one.call("echo", { i }),
      two.call("count", { i }),
      one.call("nothing", {}),
      two.call("echo", "x"),
    ]);
  }
  await one.call("echo", 1, { requestId: "same" });
  await one.call("echo", 1, { requestId: "same" });
  await kernel.closeSession(one.id);
  const stored = await store.readRecords({ limit: 1000 });
  assert.ok(stored.every((record) => equalBytes(hashRecord(record.record), record.hash)));
  const report = await verifyLedger({
    recordCount: async () => stored.length,
    records: async function* () {
      yield* stored;
    },
    readFile: () => undefined,
  });
  assert.deepEqual(report.problems, []);
  assert.ok(report.intact && report.complete);
});
