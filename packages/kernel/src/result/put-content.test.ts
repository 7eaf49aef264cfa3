import assert from "node:assert/strict";
import { test } from "node:test";
import { blake3, toHex } from "@narthex/contracts";
import { createMemoryStore, createTestKernel, echoTool } from "@narthex/testkit";
import type { Kernel } from "../kernel.ts";
import { verifyStore } from "../testing/verify-store.ts";
import { defineTool } from "../tool/define-tool.ts";

const reading = defineTool({
  name: "read",
  description: "Reads content, and fails if it is asked to.",
  inputSchema: {
    type: "object",
    properties: { hash: { type: "string" }, fail: { type: "boolean" } },
    required: ["hash"],
  },
  tier: "read_only",
  run: async ({ hash, fail }, { content }) => {
    const text = Buffer.from(await content.read(hash, 0, 0)).toString();
    if (fail === true) throw new Error(text);
    return text;
  },
});

function put(kernel: Kernel, sessionId: string, chunks: AsyncIterable<Uint8Array>, labels: readonly string[] = []) {
  return kernel.putContent({ sessionId, door: "test", labels, chunks });
}

async function* chunksOf(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts).toString();
}

test("content that is truncated or has an unexpected hash is not logged and cannot be named", async () => {
  const { open, kernel, store } = await createTestKernel({ tools: [echoTool] });
  const { id } = await open();
  const size = store.size;
  const expectedHash = blake3(Buffer.from("other"));
  const wrong = { sessionId: id, door: "test", labels: [], chunks: chunksOf("text"), expectedHash };
  await assert.rejects(kernel.putContent(wrong), { code: "INVALID_INPUT" });
  const broken = (async function* () {
    yield Buffer.from("text");
    throw new Error("the line broke");
  })();
  await assert.rejects(put(kernel, id, broken), /line broke/);
  assert.equal(store.size, size);
  await assert.rejects(kernel.getContent(id, blake3(Buffer.from("text")), 0, 0), { code: "CONTENT_NOT_FOUND" });
});

test("rejects invalid labels before reading any content", async () => {
  const { open, kernel } = await createTestKernel({ tools: [echoTool] });
  const { id } = await open();
  const unread = (async function* (): AsyncGenerator<Uint8Array> {
    yield assert.fail("was read");
  })();
  for (const labels of [["Secret"], [""], ["a b"], ["x".repeat(65)], Array(17).fill("a")]) {
    await assert.rejects(put(kernel, id, unread, labels), { code: "INVALID_INPUT" });
  }
});

test("content gets the labels that its session has at the end of the upload", async () => {
  const { open, kernel, store } = await createTestKernel({ tools: [reading] });
  const session = await open();
  const { hash } = await put(kernel, session.id, chunksOf("a secret"), ["secret"]);
  const other = await open();
  const more = Promise.withResolvers<void>();
  const slow = put(
    kernel,
    session.id,
    (async function* () {
      yield Buffer.from("one");
      await more.promise;
      yield Buffer.from("two");
    })(),
  );
  await put(kernel, session.id, chunksOf("x"), ["later"]);
  more.resolve();
  assert.deepEqual((await slow).labels, ["later", "secret"]);
  await assert.rejects(kernel.getContent(other.id, hash, 0, 0), { code: "CONTENT_NOT_FOUND" });
  await verifyStore(store);
});

test("a failed call that read labelled content still labels its session", async () => {
  const store = createMemoryStore();
  const { open, kernel, records } = await createTestKernel({ tools: [reading], store });
  const session = await open();
  const { hash } = await put(kernel, session.id, chunksOf("a secret"), ["secret"]);
  // A restart in between: the labels of the content are in its record, not only in the session that put it.
  const next = await createTestKernel({ tools: [reading], store });
  const input = { hash: toHex(hash), fail: true };
  await next.kernel.callInProcess({ token: session.token, tool: "read", input });
  const outcome = (await records(session.id)).at(-1)?.entries.at(-1)?.kind;
  assert.ok(outcome?.case === "toolFailed");
  assert.deepEqual(outcome.value.labels, ["secret"]);
  assert.deepEqual((await next.kernel.getSession(session.id))?.session.labels, ["secret"]);
  await verifyStore(store);
});

test("content is delivered only after its labels are durable on the session, to a second reader too", async () => {
  const store = createMemoryStore();
  const first = await createTestKernel({ tools: [echoTool], store });
  const session = await first.open();
  const { hash } = await put(first.kernel, session.id, chunksOf("a secret"), ["secret"]);
  const unlabelled = { ...store, getState: withoutLabels(store) };
  const { kernel } = await createTestKernel({ tools: [echoTool], store: unlabelled });
  const release = store.holdAppends();
  let given = 0;
  const readers = [1, 2].map(async () => {
    const found = await kernel.getContent(session.id, hash, 0, 0);
    given++;
    return textOf(found.chunks);
  });
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(given, 0);
  release();
  assert.deepEqual(await Promise.all(readers), ["a secret", "a secret"]);
});

test("a slice has the requested range, never one from the other end", async () => {
  const { open, kernel } = await createTestKernel({ tools: [echoTool] });
  const { id } = await open();
  for (const text of ["0123456789", "0123456789".repeat(10_000)]) {
    const { hash, size } = await put(kernel, id, chunksOf(text));
    const read = async (offset: number, limit: number) =>
      textOf((await kernel.getContent(id, hash, offset, limit)).chunks);
    assert.equal(await read(0, 0), text);
    assert.equal(await read(3, 4), "3456");
    assert.equal(await read(size - 2, 100), "89");
    assert.equal(await read(size, 0), "");
    assert.equal(await read(size + 5, 5), "");
    for (const [offset, limit] of [
      [-1, 0],
      [0, -1],
      [0.5, 1],
      [Number.NaN, 0],
    ] as const) {
      await assert.rejects(read(offset, limit), { code: "INVALID_INPUT" });
    }
  }
});

test("accepts empty content", async () => {
  const { open, kernel, store } = await createTestKernel({ tools: [echoTool] });
  const { id } = await open();
  const { hash, size } = await put(kernel, id, chunksOf());
  assert.equal(size, 0);
  assert.equal(await textOf((await kernel.getContent(id, hash, 0, 0)).chunks), "");
  await verifyStore(store);
});

/** The session's rows as they were before it put anything. */
function withoutLabels(store: ReturnType<typeof createMemoryStore>): typeof store.getState {
  return async (table, key) => {
    const row = await store.getState(table, key);
    return row && table === "sessions" ? Buffer.from(Buffer.from(row).toString().replaceAll('"secret"', "")) : row;
  };
}
