import assert from "node:assert/strict";
import { test } from "node:test";
import { KernelError } from "@narthex/contracts";
import {
  createCountingTool,
  createMemoryContentStore,
  createMemoryStore,
  createTestKernel,
  createWaitingTool,
  echoTool,
} from "@narthex/testkit";
import type { CallResult } from "../kernel.ts";
import type { ContentStore } from "../ports.ts";
import { verifyStore } from "../testing/verify-store.ts";
import { defineTool } from "../tool/define-tool.ts";

const codeOf = ({ response: { result } }: CallResult) =>
  result.case === "denied"
    ? result.value.rationaleCode
    : result.case === "error"
      ? result.value.errorCode
      : result.case;

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

const kindsOf = async (
  records: (chain: string) => Promise<{ entries: { kind: { case: string | undefined } }[] }[]>,
  chain: string,
) => (await records(chain)).flatMap(({ entries }) => entries.map(({ kind }) => kind.case));

/** Content files whose writing waits until it is let go. */
function heldFiles(): { readonly files: ContentStore; readonly release: () => void } {
  const held = Promise.withResolvers<void>();
  const files = createMemoryContentStore();
  return { files: { ...files, openWriter: () => held.promise.then(() => files.openWriter()) }, release: held.resolve };
}

test("an invalid session id is SESSION_UNKNOWN, including keys of its other rows", async () => {
  const { open, kernel } = await createTestKernel({ tools: [echoTool] });
  const { id } = await open();
  for (const wrong of ["", "ses_", `${id}/usage`, `${id}/`, id.slice(0, -1), "../x", "x".repeat(10_000)]) {
    await assert.rejects(kernel.closeSession(wrong), { code: "SESSION_UNKNOWN" });
    assert.equal(await kernel.getSession(wrong), undefined);
  }
});

test("closing cancels and records running calls, then ends the chain", async () => {
  const waiting = createWaitingTool();
  const hanging = createCountingTool("count", () => new Promise(() => undefined));
  const { open, kernel, records, store } = await createTestKernel({ tools: [waiting.tool, hanging.tool] });
  const session = await open();
  const calls = [session.call("wait", {}), session.call("count", {}), session.call("count", {}, { dedupeKey: "k" })];
  await waiting.started;
  await turn();
  const closing = [kernel.closeSession(session.id), kernel.closeSession(session.id)];
  assert.deepEqual((await Promise.all(calls)).map(codeOf), ["CANCELLED", "CANCELLED", "CANCELLED"]);
  await Promise.all(closing);
  const kinds = await kindsOf(records, session.id);
  assert.equal(kinds.filter((kind) => kind === "sessionClosed").length, 1);
  assert.equal(kinds.at(-1), "sessionClosed");
  assert.equal(codeOf(await session.call("wait", {})), "SESSION_CLOSED");
  assert.deepEqual(await store.listState("dedupe", "", 10), []);
  await verifyStore(store);
});

test("a second close resolves only when the first is durable", async () => {
  const { open, kernel, store } = await createTestKernel({ tools: [echoTool] });
  const session = await open();
  const release = store.holdAppends();
  void kernel.closeSession(session.id);
  let done = false;
  const second = kernel.closeSession(session.id).then(() => {
    done = true;
  });
  for (let i = 0; i < 20; i++) await turn();
  assert.equal(done, false);
  release();
  await second;
});

test("a call still being checked when its session closed does not run, and is recorded before the end", async () => {
  for (const tier of ["read_only", "side_effecting"] as const) {
    let runs = 0;
    const tool = defineTool({ name: "tool", description: "Runs.", inputSchema: true, tier, run: () => ++runs });
    const { files, release } = heldFiles();
    const { open, kernel, records, store } = await createTestKernel({ tools: [tool], contentStore: files });
    const session = await open();
    const call = session.call("tool", "x".repeat(100_000));
    await turn();
    const closed = kernel.closeSession(session.id);
    await turn();
    release();
    assert.equal(codeOf(await call), "SESSION_CLOSED");
    await closed;
    assert.equal(runs, 0);
    assert.deepEqual((await kindsOf(records, session.id)).slice(-3), ["toolInvoked", "toolDenied", "sessionClosed"]);
    await verifyStore(store, files);
  }
});

test("content uploaded while its session closes is rejected and not logged", async () => {
  const { open, kernel, records, store } = await createTestKernel({ tools: [echoTool] });
  const session = await open();
  const more = Promise.withResolvers<void>();
  const put = kernel.putContent({
    sessionId: session.id,
    door: "test",
    labels: [],
    chunks: (async function* () {
      yield Buffer.from("one");
      await more.promise;
      yield Buffer.from("two");
    })(),
  });
  await turn();
  // A slow upload does not hold up the closing.
  await kernel.closeSession(session.id);
  more.resolve();
  await assert.rejects(put, { code: "SESSION_CLOSED" });
  assert.ok(!(await kindsOf(records, session.id)).includes("contentStored"));
  await verifyStore(store);
});

test("five containment violations within a minute quarantine a session; invalid input never does", async () => {
  const escaping = defineTool({
    name: "escape",
    description: "Leaves its containment.",
    inputSchema: { type: "object" },
    tier: "read_only",
    run: () => {
      throw new KernelError("PATH_ESCAPE", "outside");
    },
  });
  const { open, clock, kernel, records, store } = await createTestKernel({ tools: [escaping] });
  const slow = await open();
  for (let i = 0; i < 10; i++) {
    assert.equal(codeOf(await slow.call("escape", {})), "PATH_ESCAPE");
    clock.advance(16_000);
  }
  const session = await open();
  for (let i = 0; i < 20; i++) assert.equal(codeOf(await session.call("escape", 1)), "INVALID_INPUT");
  for (let i = 0; i < 5; i++) assert.equal(codeOf(await session.call("escape", {})), "PATH_ESCAPE");
  assert.equal(codeOf(await session.call("escape", {})), "SESSION_QUARANTINED");
  assert.equal((await kindsOf(records, session.id)).at(-1), "sessionQuarantined");
  const restarted = await createTestKernel({ tools: [escaping], store });
  const again = await restarted.kernel.callInProcess({ token: session.token, tool: "escape", input: {} });
  assert.equal(codeOf(again), "SESSION_QUARANTINED");
  assert.equal((await restarted.kernel.closeSession(session.id)).session.state, "closed");
  assert.equal(
    codeOf(await restarted.kernel.callInProcess({ token: session.token, tool: "escape", input: {} })),
    "SESSION_CLOSED",
  );
  await verifyStore(store);
  await kernel.close();
});

test("expired sessions are rejected at once and cleaned up later", async () => {
  const waiting = createWaitingTool();
  const { open, clock, kernel, records } = await createTestKernel({ tools: [echoTool, waiting.tool] });
  const session = await open({ ttlMs: 20 });
  const running = session.call("wait", {});
  await waiting.started;
  clock.advance(20);
  assert.equal(codeOf(await session.call("echo", 1)), "SESSION_EXPIRED");
  assert.equal(codeOf(await running), "CANCELLED");
  await turn();
  assert.equal((await kindsOf(records, session.id)).at(-1), "sessionClosed");
  assert.equal((await kernel.getSession(session.id))?.session.state, "expired");
});

test("lists open sessions, newest first", async () => {
  const { open, clock, kernel } = await createTestKernel({ tools: [echoTool], store: createMemoryStore() });
  const sessions = [];
  for (let i = 0; i < 5; i++) {
    sessions.push(await open(i === 3 ? { ttlMs: 5 } : {}));
    clock.advance(10);
  }
  await kernel.closeSession(sessions[1]?.id ?? "");
  const listed = async (all: boolean, limit = 10) =>
    (await kernel.listSessions({ all, limit })).map(({ session }) => session.id);
  const ids = sessions.map(({ id }) => id);
  assert.deepEqual(await listed(false), [ids[4], ids[2], ids[0]]);
  assert.deepEqual(await listed(true), ids.toReversed());
  assert.deepEqual(await listed(true, 2), [ids[4], ids[3]]);
});
