import assert from "node:assert/strict";
import { test } from "node:test";
import { KernelError, toHex } from "@narthex/contracts";
import { createMemoryContentStore, createMemoryStore, createTestKernel } from "@narthex/testkit";
import type { CallResult } from "../../kernel.ts";
import type { ContentStore } from "../../ports.ts";
import { verifyStore } from "../../testing/verify-store.ts";
import { defineTool } from "../../tool/define-tool.ts";
import type { Tool, ToolContext, ToolOutput } from "../../tool/tool.ts";

const ARTIFACTS = {
  effects: ["artifact"],
  capabilities: [{ kind: "artifact", names: ["*"] }],
  tier: "side_effecting",
} as const;

function makeTool(run: (context: ToolContext) => unknown, extra: Partial<Tool> = {}): Tool {
  const tool = defineTool({
    name: "tool",
    description: "Misbehaves.",
    inputSchema: true,
    tier: "read_only",
    run: () => 0,
  });
  return { ...tool, ...extra, run: (_, context) => run(context) as ToolOutput };
}

const streaming = (chunks: () => AsyncIterable<unknown>, extra: Partial<Tool> = {}) =>
  makeTool(chunks, { resultType: "stream", normalise: "binary", ...extra });

function errorOf({ response: { result } }: CallResult) {
  return result.case === "error" ? result.value : assert.fail(result.case);
}

async function call(tool: Tool, options: Parameters<Awaited<ReturnType<typeof openOn>>["session"]["call"]>[2] = {}) {
  const { session, store } = await openOn(tool);
  const result = await session.call("tool", {}, options);
  await verifyStore(store);
  return result;
}

async function openOn(tool: Tool, contentStore: ContentStore = createMemoryContentStore()) {
  const store = createMemoryStore();
  const made = await createTestKernel({ tools: [tool], store, contentStore });
  return { ...made, session: await made.open(), store };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("whatever a tool throws or rejects with is EXECUTION_FAILED", async () => {
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

test("an error of the wrong make is recorded all the same", async () => {
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

test("a thenable is waited for no longer than any promise", async () => {
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

test("a context opens nothing once its call has ended, however it ended", async () => {
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

test("an artifact on its way when the time is over is not published", async () => {
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

test("a stream's tool is told to stop, whatever ended its stream", async () => {
  const ends: Readonly<Record<string, () => Parameters<typeof streaming>>> = {
    INVALID_OUTPUT: () => [
      async function* () {
        yield "text";
      },
    ],
    TIMEOUT: () => [
      async function* () {
        for (;;) {
          yield Buffer.from("x");
          await turn();
        }
      },
      { bounds: { timeoutMs: 20, maxOutputBytes: 9 } },
    ],
  };
  for (const [code, made] of Object.entries(ends)) {
    const [chunks, extra] = made();
    const returned = Promise.withResolvers<void>();
    const wrapped = () => {
      const iterator = chunks()[Symbol.asyncIterator]();
      return {
        [Symbol.asyncIterator]: () => ({
          next: () => iterator.next(),
          return: async () => {
            returned.resolve();
            throw new Error("will not");
          },
        }),
      };
    };
    assert.equal(errorOf(await call(streaming(wrapped, extra))).errorCode, code);
    await returned.promise;
  }
});

test("a stream that always has more ready does not outlast its time-out", async () => {
  const bounds = { timeoutMs: 30, maxOutputBytes: 9 };
  for (const chunk of [Buffer.from("x"), new Uint8Array(0)]) {
    const endless = streaming(
      async function* () {
        for (;;) yield chunk;
      },
      { bounds },
    );
    assert.equal(errorOf(await call(endless)).errorCode, "TIMEOUT");
  }
});

test("a reader who never takes the chunk does not hold the call past its time-out", async () => {
  const two = streaming(
    async function* () {
      yield Buffer.from("one");
      yield Buffer.from("two");
    },
    { bounds: { timeoutMs: 20, maxOutputBytes: 9 } },
  );
  assert.equal(errorOf(await call(two, { onChunk: () => new Promise(() => undefined) })).errorCode, "TIMEOUT");
});

test("a reader who fails hears no more, and the call goes on", async () => {
  const two = streaming(async function* () {
    yield Buffer.from("one ");
    yield Buffer.from("two");
  });
  for (const fail of [() => throwing(new Error("gone")), () => Promise.reject(new Error("gone"))]) {
    let heard = 0;
    const onChunk = () => {
      heard++;
      return fail();
    };
    assert.equal(Buffer.from((await call(two, { onChunk })).normalised ?? []).toString(), "one two");
    assert.equal(heard, 1);
  }
});

test("a stream is held against its schema whatever its size, and nothing of a refused one is kept", async () => {
  const outputSchema = { type: "string", pattern: "^x*$" };
  const sizes: readonly [number, string, string][] = [
    [10, "x", "success"],
    [10, "y", "INVALID_OUTPUT"],
    [10, "\xff", "INVALID_OUTPUT"],
    [200_000, "x", "success"],
    [200_000, "y", "INVALID_OUTPUT"],
    [2_000_000, "x", "INVALID_OUTPUT"],
  ];
  for (const [size, text, expected] of sizes) {
    const files = countingFiles();
    const tool = streaming(
      async function* () {
        for (let sent = 0; sent < size; sent += 10_000) yield Buffer.alloc(Math.min(10_000, size), text, "latin1");
      },
      { outputSchema },
    );
    const { session } = await openOn(tool, files.store);
    const { response } = await session.call("tool", {});
    const code = response.result.case === "error" ? response.result.value.errorCode : response.result.case;
    assert.equal(code, expected, `${size} ${text}`);
    if (expected !== "success") assert.equal(files.committed(), 0);
    assert.equal(files.open(), 0);
  }
});

test("a stream from a tool that declared none is refused without being read", async () => {
  let read = 0;
  const chunks = async function* () {
    read++;
    yield Buffer.from("x");
  };
  for (const resultType of ["json", "binary", "string"] as const) {
    const normalise = resultType === "json" ? "json" : "binary";
    assert.equal(errorOf(await call(makeTool(chunks, { resultType, normalise }))).errorCode, "INVALID_OUTPUT");
  }
  assert.equal(read, 0);
});

test("a chunk that its tool writes over while it is stored stays as it was", async () => {
  const chunk = Buffer.alloc(100_000, "a");
  const tool = streaming(async function* () {
    yield chunk;
    chunk.fill("b");
    yield chunk;
  });
  const { session, kernel } = await openOn(
    tool,
    slowFiles(() => chunk.fill("c")),
  );
  const { hash } = await session.call("tool", {});
  const { chunks } = await kernel.getContent(session.id, hash ?? assert.fail(), 0, 0);
  const parts: Uint8Array[] = [];
  for await (const part of chunks) parts.push(part);
  const whole = Buffer.concat(parts);
  assert.ok(whole.equals(Buffer.concat([Buffer.alloc(100_000, "a"), Buffer.alloc(100_000, "b")])));
});

test("a tool's own normalising that fails, or gives no bytes, is INVALID_OUTPUT", async () => {
  const rules: (() => Uint8Array)[] = [() => throwing(new Error("no")), () => "text" as unknown as Uint8Array];
  for (const normaliseCustom of rules) {
    const tool = makeTool(() => ({ a: 1 }), { normalise: "custom", normaliseCustom });
    assert.equal(errorOf(await call(tool)).errorCode, "INVALID_OUTPUT");
  }
});

test("bytes that a tool keeps and changes later are not what was hashed", async () => {
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

test("a fault after an effect is never called retryable", async () => {
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

function throwing(fault: unknown): never {
  throw fault;
}

function slowFiles(before: () => void): ContentStore {
  const files = createMemoryContentStore();
  return {
    ...files,
    async openWriter() {
      const writer = await files.openWriter();
      return {
        ...writer,
        async write(chunk) {
          await turn();
          before();
          await writer.write(chunk);
        },
      };
    },
  };
}

function countingFiles() {
  const files = createMemoryContentStore();
  let open = 0;
  let committed = 0;
  const store: ContentStore = {
    ...files,
    async openWriter() {
      const writer = await files.openWriter();
      open++;
      return {
        write: (chunk) => writer.write(chunk),
        async commit() {
          open--;
          committed++;
          return writer.commit();
        },
        async abort() {
          open--;
          await writer.abort();
        },
      };
    },
  };
  return { store, open: () => open, committed: () => committed };
}
