import assert from "node:assert/strict";
import { test } from "node:test";
import { KernelError, toHex } from "@narthex/contracts";
import { createMemoryContentStore, createMemoryStore, createTestKernel } from "@narthex/testkit";
import type { ContentStore } from "../../ports.ts";
import { verifyStore } from "../../testing/verify-store.ts";
import type { ToolContext } from "../../tool/tool.ts";
import { ARTIFACTS, makeTool, errorOf, call, openOn, turn, throwing } from "./testing/hostile-tool.ts";

test("any value that a tool throws or rejects with is EXECUTION_FAILED", async () => {
  const bare: unknown = Object.create(null);
  const unreadable = Object.defineProperty(new Error("x"), "message", { get: () => assert.fail() });
  const faults = [
    undefined,
    null,
    0,
    "text",
    Symbol("s"),
    bare,
    unreadable,
    new Error(),
    { toString: () => assert.fail() },
  ];
  for (const fault of faults) {
    for (const tool of [makeTool(() => throwing(fault)), makeTool(() => Promise.reject(fault))]) {
      assert.equal(errorOf(await call(tool)).errorCode, "EXECUTION_FAILED");
    }
  }
});

test("a tool cannot report error codes that are reserved for the kernel", async () => {
  for (const code of ["APPROVAL_PENDING", "OUTCOME_UNKNOWN", "DUPLICATE_REQUEST_ID", "DEDUPE_CONFLICT"] as const) {
    const error = errorOf(await call(makeTool(() => throwing(new KernelError(code, "wait for ever")))));
    assert.equal(error.errorCode, "EXECUTION_FAILED", code);
    assert.match(error.message, /wait for ever/);
  }
});

test("records an error of the wrong type", async () => {
  const odd = { retryAfterMs: Number.NaN, violations: [{ field: 1, rule: undefined, message: null }] };
  for (const retryAfterMs of [1.5, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
    const error = errorOf(
      await call(makeTool(() => throwing(new KernelError("RATE_LIMITED", "later", { retryAfterMs })))),
    );
    assert.equal(error.errorCode, "RATE_LIMITED");
    assert.ok(error.retryAfterMs >= 0n);
  }
  const fault = new KernelError("INVALID_INPUT", "odd", odd as unknown as ConstructorParameters<typeof KernelError>[2]);
  assert.equal(errorOf(await call(makeTool(() => throwing(fault)))).errorCode, "INVALID_INPUT");
});

test("a thenable times out like any promise", async () => {
  const bounds = { timeoutMs: 10, maxOutputBytes: 100 };
  assert.equal(errorOf(await call(makeTool(() => ({ then: () => undefined }), { bounds }))).errorCode, "TIMEOUT");
  const quick = await call(makeTool(() => ({ then: (resolve: (value: number) => void) => resolve(7) })));
  assert.equal(quick.raw, 7);
});

test("a call cancelled while its intent is written does not start its tool", async () => {
  let runs = 0;
  const { session, store, kernel, records } = await openOn(makeTool(() => ++runs, ARTIFACTS));
  const release = store.holdAppends();
  const answer = session.call("tool", {}, { requestId: "r" });
  await turn();
  const closed = kernel.closeSession(session.id);
  await turn();
  release();
  const error = errorOf(await answer);
  await closed;
  assert.equal(error.errorCode, "CANCELLED");
  assert.equal(error.effectsPossible, false);
  assert.equal(runs, 0);
  assert.equal((await records(session.id)).at(-1)?.entries[0]?.kind.case, "sessionClosed");
  await verifyStore(store);
});

test("a context is unusable once its call has ended, however it ended", async () => {
  const content = Buffer.from("content");
  const ends: Readonly<Record<string, (context: ToolContext) => unknown>> = {
    returned: () => 1,
    threw: () => throwing(new Error("no")),
    "timed out": () => new Promise(() => undefined),
  };
  for (const [name, end] of Object.entries(ends)) {
    let kept: ToolContext | undefined;
    let late: Promise<unknown> | undefined;
    const tool = makeTool(
      (context) => {
        kept = context;
        late = context.content.stream(hash, 0, 0)[Symbol.asyncIterator]().next();
        return end(context);
      },
      { ...ARTIFACTS, bounds: { timeoutMs: 10, maxOutputBytes: 100 } },
    );
    const { session, kernel, store } = await openOn(tool);
    const put = await kernel.putContent({
      sessionId: session.id,
      door: "test",
      labels: ["late"],
      chunks: (async function* () {
        yield content;
      })(),
    });
    const hash = toHex(put.hash);
    await session.call("tool", {});
    await late?.catch(() => undefined);
    if (kept === undefined) assert.fail();
    const { content: files, artifacts, signal } = kept;
    const artifact = { artifact_id: "a", content_hash: hash, category: "c", metadata: [] };
    await assert.rejects(files.stat(hash), /ended/, name);
    await assert.rejects(files.read(hash, 0, 1), /ended/, name);
    await assert.rejects(files.stream(hash, 0, 1)[Symbol.asyncIterator]().next(), /ended/, name);
    await assert.rejects(artifacts.publish(artifact), /ended/, name);
    await assert.rejects(artifacts.get("a"), /ended/, name);
    assert.equal(signal.aborted, name !== "returned", name);
    assert.deepEqual(await store.listState("artifacts", "", 10), []);
  }
});

test("an artifact that is being published at the time-out is not published", async () => {
  const content = Promise.withResolvers<void>();
  const store = createMemoryStore();
  let holds = false;
  const slow = {
    ...store,
    getState: async (...key: Parameters<typeof store.getState>) => {
      if (holds && key[0] === "artifacts") await content.promise;
      return store.getState(...key);
    },
  };
  let publishing: Promise<unknown> | undefined;
  const tool = makeTool(
    (context) => {
      holds = true;
      publishing = context.artifacts.publish({ artifact_id: "a", content_hash: hash, category: "c", metadata: [] });
      return publishing;
    },
    { ...ARTIFACTS, bounds: { timeoutMs: 10, maxOutputBytes: 100 } },
  );
  const { open, kernel } = await createTestKernel({ tools: [tool], store: slow });
  const session = await open();
  const chunks = (async function* () {
    yield Buffer.from("x");
  })();
  const hash = toHex((await kernel.putContent({ sessionId: session.id, door: "test", labels: [], chunks })).hash);
  assert.equal(errorOf(await session.call("tool", {})).errorCode, "TIMEOUT");
  content.resolve();
  await assert.rejects(publishing ?? assert.fail(), /ended/);
  assert.deepEqual(await store.listState("artifacts", "", 10), []);
});

test("a tool sees neither the session's seed nor its token hash", async () => {
  const { raw } = await call(makeTool(({ session }) => Object.keys(session).sort().join()));
  assert.equal(raw, "id,tenant,workingDirectory,workspace");
});

test("a tool's normaliser that throws or returns no bytes is INVALID_OUTPUT", async () => {
  const rules: (() => Uint8Array)[] = [() => throwing(new Error("no")), () => "text" as unknown as Uint8Array];
  for (const normaliseCustom of rules) {
    const tool = makeTool(() => ({ a: 1 }), { normalise: "custom", normaliseCustom });
    assert.equal(errorOf(await call(tool)).errorCode, "INVALID_OUTPUT");
  }
});

test("changes that a tool makes to returned bytes do not change the hashed result", async () => {
  const kept = Buffer.from("before");
  const tool = makeTool(() => 1, { normalise: "custom", normaliseCustom: () => kept });
  const { session, store } = await openOn(tool);
  const answer = session.call("tool", {});
  await Promise.resolve();
  for (let i = 0; i < 50; i++) {
    kept.fill("x");
    await Promise.resolve();
  }
  await answer;
  await verifyStore(store);
});

test("a failure after an effect is never retryable", async () => {
  const broken: ContentStore = {
    ...createMemoryContentStore(),
    openWriter: () => Promise.reject(new KernelError("STORE_UNAVAILABLE", "the disk is full")),
  };
  for (const [extra, retryable] of [
    [ARTIFACTS, false],
    [{}, true],
  ] as const) {
    const { session } = await openOn(
      makeTool(() => "x".repeat(100_000), extra),
      broken,
    );
    const error = errorOf(await session.call("tool", {}));
    assert.equal(error.errorCode, "STORE_UNAVAILABLE");
    assert.equal(error.retryable, retryable);
  }
});
