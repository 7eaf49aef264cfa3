import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { blake3, isKernelError, utf8 } from "@narthex/contracts";
import { createCountingTool, createMemoryStore, createTestKernel, permitAll } from "@narthex/testkit";
import { verifyStore } from "../testing/verify-store.ts";

// What waits for a person is told to come back when the test says so.
mock.timers.enable({ apis: ["setTimeout"] });

const INPUT = { note: "4711-0815" };
const ERASURE = {
  hashes: [blake3(utf8(JSON.stringify(INPUT)))],
  sessionIds: [],
  reason: "asked for",
  by: "ada",
  dryRun: false,
};

async function createAsked(before?: () => Promise<void>) {
  const store = createMemoryStore();
  const { tool, count } = createCountingTool("count", before);
  const at = await createTestKernel({ tools: [tool], store, policy: permitAll([tool], "human") });
  at.kernel.openApprovalDoor();
  const session = await at.open();
  const ask = async (): Promise<string> => {
    const waiting = session.call("count", INPUT, { timeoutMs: 1 });
    await new Promise((resolve) => setImmediate(resolve));
    mock.timers.tick(2);
    await waiting;
    return at.kernel.listApprovals().open[0]?.approvalId ?? assert.fail("nobody was asked");
  };
  const answer = (approvalId: string, term: "once" | "session") =>
    at.kernel.resolveApproval({ approvalId, answer: term, approver: "ada", door: "cli" });
  const rows = async (): Promise<string> =>
    (await store.listState("approvals", "", 100)).map(({ value }) => Buffer.from(value).toString()).join("\n");
  return { ...at, store, session, ask, answer, rows, count };
}

const inUse = (fault: unknown): boolean => isKernelError(fault) && fault.code === "CONTENT_IN_USE";

test("rejects erasing an input with a pending approval request", async () => {
  const { kernel, ask } = await createAsked();
  await ask();
  await assert.rejects(kernel.erase(ERASURE), inUse);
});

test("erases an unused approval and a session approval of exactly this input together with the input", async () => {
  for (const term of ["once", "session"] as const) {
    const { kernel, ask, answer, rows, store } = await createAsked();
    await answer(await ask(), term);
    const digest = Buffer.from(ERASURE.hashes[0] ?? []).toString("hex");
    assert.ok((await rows()).includes(digest));
    await kernel.erase(ERASURE);
    assert.equal(await rows(), "");
    assert.deepEqual(kernel.listApprovals().standing, []);
    const records = Buffer.concat((await kernel.listRecords({ limit: 1000 })).map(({ record }) => record));
    assert.ok(!records.includes(digest), "no entry holds the digest");
    await verifyStore(store);
  }
});

test("rejects erasing the input of a call with unknown outcome until a person settles it", async () => {
  const started = Promise.withResolvers<void>();
  const first = await createAsked(() => {
    started.resolve();
    return new Promise(() => undefined);
  });
  await first.answer(await first.ask(), "once");
  void first.session.call("count", INPUT, { requestId: "lost" });
  await started.promise;
  const { tool } = createCountingTool();
  const { kernel } = await createTestKernel({ tools: [tool], store: first.store });
  await assert.rejects(kernel.erase(ERASURE), inUse);
  await kernel.settleIntent({ sessionId: first.session.id, requestId: "lost", answer: "happened", by: "ada" });
  assert.ok((await kernel.erase(ERASURE)).items > 0);
  const [row] = await first.store.listState("intents", "", 10);
  assert.match(Buffer.from(row?.value ?? []).toString(), /"input_digest":"".*"request_digest":""/);
  await verifyStore(first.store);
});
