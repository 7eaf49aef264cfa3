import assert from "node:assert/strict";
import { test } from "node:test";
import { createCountingTool, createTestKernel, createWaitingTool, echoTool } from "@narthex/testkit";
import type { CallResult } from "../../kernel.ts";
import { defineTool } from "../../tool/define-tool.ts";

function errorOf(result: CallResult): string {
  const { result: answer } = result.response;
  return answer.case === "error" ? answer.value.errorCode : `${answer.case}`;
}

test("the same request id with other content is DUPLICATE_REQUEST_ID", async () => {
  const { open } = await createTestKernel({ tools: [echoTool] });
  const session = await open();
  await session.call("echo", 1, { requestId: "r" });
  assert.equal(errorOf(await session.call("echo", 2, { requestId: "r" })), "DUPLICATE_REQUEST_ID");
});

test("the same key with another request is DEDUPE_CONFLICT", async () => {
  const { open } = await createTestKernel({ tools: [echoTool] });
  const session = await open();
  await session.call("echo", 1, { dedupeKey: "k" });
  assert.equal(errorOf(await session.call("echo", 2, { dedupeKey: "k" })), "DEDUPE_CONFLICT");
});

test("dedupe keys and request ids are separate per session", async () => {
  const counting = createCountingTool();
  const { open } = await createTestKernel({ tools: [counting.tool] });
  const [one, two] = [await open(), await open()];
  await one.call("count", {}, { requestId: "r", dedupeKey: "k" });
  await two.call("count", {}, { requestId: "r", dedupeKey: "k" });
  assert.equal(counting.count(), 2);
});

test("the same request gets the same response without running, and CallRepeated names the first record", async () => {
  const counting = createCountingTool();
  const { open, records } = await createTestKernel({ tools: [counting.tool] });
  const session = await open();
  const first = await session.call("count", {}, { requestId: "r" });
  const again = await session.call("count", {}, { requestId: "r" });
  assert.equal(counting.count(), 1);
  assert.deepEqual(again.hash, first.hash);
  assert.ok(again.response.result.case === "success" && again.response.result.value.repeatedAnswer);
  const repeated = (await records(session.id)).at(-1)?.entries.at(-1)?.kind;
  assert.ok(repeated?.case === "callRepeated");
  const outcome = (await records())[Number(repeated.value.firstRecordIndex)];
  assert.equal(outcome?.entries.at(-1)?.kind.case, "toolCompleted");
});

test("a repeat by dedupe key gets the response under the new request's id", async () => {
  const counting = createCountingTool();
  const { open } = await createTestKernel({ tools: [counting.tool] });
  const session = await open();
  await session.call("count", {}, { requestId: "one", dedupeKey: "k" });
  const again = await session.call("count", {}, { requestId: "two", dedupeKey: "k" });
  assert.equal(counting.count(), 1);
  assert.equal(again.response.requestId, "two");
});

test("fifty concurrent duplicates run once", async () => {
  const counting = createCountingTool();
  const { open } = await createTestKernel({ tools: [counting.tool] });
  const session = await open();
  const results = await Promise.all(
    Array.from({ length: 50 }, (_, i) => session.call("count", {}, { requestId: `r${i % 2}`, dedupeKey: "k" })),
  );
  assert.equal(counting.count(), 1);
  assert.ok(results.every((result) => result.status === "success"));
});

test("denials and retryable errors are not kept: the same id runs once it is allowed", async () => {
  let fail = true;
  const flaky = defineTool({
    name: "flaky",
    description: "Fails once.",
    inputSchema: true,
    tier: "read_only",
    run: async (_, context) => {
      if (!fail) return 1;
      fail = false;
      await new Promise((_, reject) => context.signal.addEventListener("abort", () => reject(new Error("late"))));
      return 0;
    },
  });
  const { open } = await createTestKernel({ tools: [flaky] });
  const session = await open();
  assert.equal(errorOf(await session.call("flaky", {}, { requestId: "r", timeoutMs: 300 })), "TIMEOUT");
  assert.equal((await session.call("flaky", {}, { requestId: "r" })).status, "success");
});

test("leaving a joined call cancels it only when the last caller leaves", async () => {
  const waiting = createWaitingTool();
  const { open } = await createTestKernel({ tools: [waiting.tool] });
  const session = await open();
  const [first, second] = [new AbortController(), new AbortController()];
  const one = session.call("wait", {}, { requestId: "r", signal: first.signal });
  await waiting.started;
  const two = session.call("wait", {}, { requestId: "r", signal: second.signal });
  await new Promise((resolve) => setImmediate(resolve));
  first.abort();
  waiting.finish();
  assert.equal((await one).status, "success");
  assert.equal((await two).status, "success");
});

test("a read-only call is cancelled when all of its callers have left", async () => {
  const waiting = createWaitingTool();
  const { open } = await createTestKernel({ tools: [waiting.tool] });
  const session = await open();
  const caller = new AbortController();
  const call = session.call("wait", {}, { signal: caller.signal });
  await waiting.started;
  caller.abort();
  assert.equal(errorOf(await call), "CANCELLED");
});

test("a call with effects finishes without its caller, and its response is kept under its request id", async () => {
  const started = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const counting = createCountingTool("count", async () => {
    started.resolve();
    await release.promise;
  });
  const { open } = await createTestKernel({ tools: [counting.tool] });
  const session = await open();
  const caller = new AbortController();
  const call = session.call("count", {}, { requestId: "r", signal: caller.signal });
  await started.promise;
  caller.abort();
  release.resolve();
  await call;
  const again = await session.call("count", {}, { requestId: "r" });
  assert.equal(again.status, "success");
  assert.equal(counting.count(), 1);
});
