import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { createCountingTool, createMemoryStore, createTestKernel, type MemoryStore, type TestKernel } from "@narthex/testkit";
import type { CallResult } from "../kernel.ts";
import { defineTool } from "../tool/define-tool.ts";
import type { Reconciliation, Tool } from "../tool/tool.ts";

// A kernel that crashed leaves calls running for ever; their time-outs must not keep the test alive.
mock.timers.enable({ apis: ["setTimeout"] });

const codeOf = ({ response: { result } }: CallResult) => (result.case === "error" ? result.value.errorCode : result.case);

/** A kernel that dies while its tool runs: what was durable is in the store, nothing else is. */
async function crashDuring(tool: Tool, started: Promise<void>, store: MemoryStore) {
  const { open } = await createTestKernel({ tools: [tool], store });
  const session = await open();
  void session.call(tool.name, { n: 1 }, { requestId: "lost", dedupeKey: "key" });
  await started;
  return session;
}

/** The next kernel on the same store. */
function restart(tool: Tool, store: MemoryStore): Promise<TestKernel> {
  return createTestKernel({ tools: [tool], store });
}

function hangingTool() {
  const started = Promise.withResolvers<void>();
  const tool = createCountingTool("count", () => {
    started.resolve();
    return new Promise(() => undefined);
  }).tool;
  return { tool, started: started.promise };
}

test("after a crash an equal call is OUTCOME_UNKNOWN, by id, by key and without either", async () => {
  const store = createMemoryStore();
  const { tool, started } = hangingTool();
  const session = await crashDuring(tool, started, store);
  const next = createCountingTool();
  const { kernel } = await restart(next.tool, store);
  const call = (options: object) => kernel.callInProcess({ token: session.token, tool: "count", input: { n: 1 }, ...options });
  assert.equal(codeOf(await call({ requestId: "lost" })), "OUTCOME_UNKNOWN");
  assert.equal(codeOf(await call({ dedupeKey: "key" })), "OUTCOME_UNKNOWN");
  assert.equal(codeOf(await call({})), "OUTCOME_UNKNOWN");
  assert.equal(next.count(), 0);
  assert.equal(codeOf(await kernel.callInProcess({ token: session.token, tool: "count", input: { n: 2 } })), "success");
  assert.equal((await kernel.listIntents())[0]?.state, "unknown");
});

test("a person settles it: did not happen lets it run, happened never runs it again under its id", async () => {
  for (const answer of ["did_not_happen", "happened"] as const) {
    const store = createMemoryStore();
    const { tool, started } = hangingTool();
    const session = await crashDuring(tool, started, store);
    const next = createCountingTool();
    const { kernel } = await restart(next.tool, store);
    await kernel.settleIntent({ sessionId: session.id, requestId: "lost", answer, by: "ann" });
    assert.deepEqual(await kernel.listIntents(), []);
    const again = await kernel.callInProcess({ token: session.token, tool: "count", input: { n: 1 }, requestId: "lost" });
    assert.equal(codeOf(again), answer === "happened" ? "OUTCOME_UNKNOWN" : "success");
    assert.equal(next.count(), answer === "happened" ? 0 : 1);
    await assert.rejects(
      kernel.settleIntent({ sessionId: session.id, requestId: "lost", answer, by: "ann" }),
      /INTENT_NOT_FOUND|unknown outcome/,
    );
  }
});

test("a tool that can tell settles its own lost calls, and the same request gets the result", async () => {
  const answers: [Reconciliation, string, string | undefined][] = [
    [{ happened: { count: 7 } }, "success", '{"count":7}'],
    ["did_not_happen", "success", '{"count":1}'],
    ["unknown", "OUTCOME_UNKNOWN", undefined],
  ];
  for (const [answer, code, text] of answers) {
    const store = createMemoryStore();
    const { tool, started } = hangingTool();
    const session = await crashDuring(tool, started, store);
    const next = createCountingTool();
    const { kernel } = await restart(defineTool({ ...next.tool, reconcile: async () => answer }), store);
    const again = await kernel.callInProcess({ token: session.token, tool: "count", input: { n: 1 }, requestId: "lost" });
    assert.equal(codeOf(again), code);
    if (text !== undefined) assert.equal(Buffer.from(again.normalised ?? []).toString(), text);
  }
});

test("an unsettled call's reservation counts as spent until it is settled", async () => {
  const store = createMemoryStore();
  const { tool, started } = hangingTool();
  const first = await createTestKernel({ tools: [tool], store });
  const session = await first.open({ lease: { budgets: { calls: 2 } } });
  void session.call("count", {}, { requestId: "lost" });
  await started;
  const { kernel } = await restart(createCountingTool().tool, store);
  assert.deepEqual((await kernel.getSession(session.id))?.budgetRemaining, { calls: 1 });
  await kernel.settleIntent({ sessionId: session.id, requestId: "lost", answer: "did_not_happen", by: "ann" });
  assert.deepEqual((await kernel.getSession(session.id))?.budgetRemaining, { calls: 2 });
});

test("sessions, answers, keys and call numbers survive a restart", async () => {
  const store = createMemoryStore();
  const before = createCountingTool();
  const first = await createTestKernel({ tools: [before.tool], store });
  const session = await first.open();
  await session.call("count", { n: 1 }, { requestId: "one", dedupeKey: "key" });
  const after = createCountingTool();
  const { kernel, records } = await restart(after.tool, store);
  const call = (options: object) => kernel.callInProcess({ token: session.token, tool: "count", input: { n: 1 }, ...options });
  assert.equal(codeOf(await call({ requestId: "one" })), "success");
  assert.equal(codeOf(await call({ requestId: "two", dedupeKey: "key" })), "success");
  assert.equal(after.count(), 0);
  await call({ requestId: "three" });
  const numbers = (await records(session.id)).flatMap((record) =>
    record.entries.flatMap(({ kind }) => (kind.case === "toolStarted" ? [Number(kind.value.callNumber)] : [])),
  );
  assert.deepEqual(numbers, [1, 2]);
});
