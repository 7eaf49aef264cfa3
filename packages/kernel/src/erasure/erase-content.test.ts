import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  blake3,
  ContentPlace,
  ContentRole,
  fromBinary,
  isKernelError,
  RecordContentSchema,
  toHex,
  utf8,
} from "@narthex/contracts";
import {
  createMemoryContentStore,
  createMemoryStore,
  createTestKernel,
  echoTool,
  type MemoryStore,
  type TestKernel,
} from "@narthex/testkit";
import { verifyStore } from "../testing/verify-store.ts";

const SECRET = { note: "the customer's number is 4711-0815" };
const INPUT = utf8(JSON.stringify(SECRET));
const WHO = { sessionIds: [], reason: "asked for", by: "ada", dryRun: false };

async function itemsOf(at: TestKernel): Promise<{ role: number; place: number; digest: string }[]> {
  const records = await at.kernel.listRecords({ limit: 10_000 });
  return records.flatMap(({ content }) =>
    fromBinary(RecordContentSchema, content).items.map(({ role, place, digest }) => ({
      role,
      place,
      digest: toHex(digest),
    })),
  );
}

function code(expected: string): (fault: unknown) => boolean {
  return (fault) => isKernelError(fault) && fault.code === expected;
}

describe("erasing content by its hash", () => {
  it("rejects an empty selection, an empty reason, and unknown content", async () => {
    const { kernel } = await createTestKernel({ tools: [echoTool] });
    const hashes = [blake3(INPUT)];
    await assert.rejects(kernel.erase({ ...WHO, hashes: [] }), code("INVALID_INPUT"));
    await assert.rejects(kernel.erase({ ...WHO, hashes, reason: " " }), code("INVALID_INPUT"));
    await assert.rejects(kernel.erase({ ...WHO, hashes, by: "" }), code("INVALID_INPUT"));
    await assert.rejects(kernel.erase({ ...WHO, hashes: [new Uint8Array(31)] }), code("INVALID_INPUT"));
    await assert.rejects(kernel.erase({ ...WHO, hashes }), code("CONTENT_NOT_FOUND"));
  });

  it("rejects a policy and a tool's definition, which entries name by their plain hashes", async () => {
    const at = await createTestKernel({ tools: [echoTool] });
    await (await at.open()).call("echo", {});
    const definition = (await itemsOf(at)).find(({ role }) => role === ContentRole.DEFINITION);
    const hashes = [Uint8Array.from(Buffer.from(definition?.digest ?? "", "hex"))];
    await assert.rejects(at.kernel.erase({ ...WHO, hashes }), code("INVALID_INPUT"));
  });

  it("leaves a tombstone for every item that names it and for derived content, and one entry each", async () => {
    const store = createMemoryStore();
    const at = await createTestKernel({ tools: [echoTool], store });
    const first = await at.open();
    const second = await at.open();
    await first.call("echo", SECRET, { requestId: "a" });
    await first.call("echo", { other: 1 }, { requestId: "b" });
    await second.call("echo", SECRET, { requestId: "c" });
    const report = await at.kernel.erase({ ...WHO, hashes: [blake3(INPUT)] });

    const items = await itemsOf(at);
    const erased = items.filter(({ place }) => place === ContentPlace.ERASED);
    assert.equal(erased.length, report.items);
    assert.ok(erased.every(({ digest }) => digest === ""));
    // Of both calls: the input, the result that is the same bytes, and what was made from the input.
    const roles = erased.map(({ role }) => role).sort((left, right) => left - right);
    const { INPUT: input, REQUEST, POLICY_REQUEST, PROOF, RESULT } = ContentRole;
    assert.deepEqual(roles, [
      input,
      input,
      REQUEST,
      REQUEST,
      POLICY_REQUEST,
      POLICY_REQUEST,
      PROOF,
      PROOF,
      RESULT,
      RESULT,
    ]);
    const entries = (await at.records("system")).flatMap((record) => record.entries.map(({ kind }) => kind));
    const named = entries.flatMap((kind) => (kind.case === "contentErased" ? [kind.value] : []));
    assert.equal(named.length, report.items);
    assert.ok(named.every(({ reason, by }) => reason === "asked for" && by === "ada"));

    const verified = await verifyStore(store);
    assert.equal(verified.erasedItems, report.items);
    const left = Buffer.concat((await at.kernel.listRecords({ limit: 10_000 })).map(({ content }) => content));
    for (const needle of [INPUT, blake3(INPUT), utf8(toHex(blake3(INPUT)))])
      assert.ok(!left.includes(Buffer.from(needle)));
    assert.deepEqual(await store.listState("erasing", "", 10), []);
  });

  it("a dry run reports what would be erased, and changes nothing", async () => {
    const store = createMemoryStore();
    const at = await createTestKernel({ tools: [echoTool], store });
    await (await at.open()).call("echo", SECRET);
    const before = store.size;
    const report = await at.kernel.erase({ ...WHO, hashes: [blake3(INPUT)], dryRun: true });
    assert.equal(report.items, 5);
    assert.deepEqual(report.recordIndexes, []);
    assert.equal(store.size, before);
  });

  it("responds to a repeat of an erased call, by id and by key, that it is gone, and does not run it again", async () => {
    const at = await createTestKernel({ tools: [echoTool] });
    const session = await at.open();
    await session.call("echo", SECRET, { requestId: "a", dedupeKey: "k" });
    await at.kernel.erase({ ...WHO, hashes: [blake3(INPUT)] });
    for (const options of [{ requestId: "a" }, { requestId: "b", dedupeKey: "k" }]) {
      const { response } = await session.call("echo", SECRET, options);
      assert.equal(response.result.case === "error" && response.result.value.errorCode, "CONTENT_NOT_FOUND");
    }
    const rows = await at.store.listState("dedupe", "", 10);
    assert.match(Buffer.from(rows[0]?.value ?? []).toString(), /"request_digest":""/);
  });

  it("accepts the same bytes again afterwards", async () => {
    const store = createMemoryStore();
    const at = await createTestKernel({ tools: [echoTool], store });
    const session = await at.open();
    const bytes = new Uint8Array(100_000).fill(7);
    const put = () =>
      at.kernel.putContent({
        sessionId: session.id,
        door: "test",
        labels: [],
        chunks: (async function* () {
          yield bytes;
        })(),
      });
    const { hash } = await put();
    const { files } = await at.kernel.erase({ ...WHO, hashes: [hash] });
    assert.equal(files, 1);
    await assert.rejects(at.kernel.getContent(session.id, hash, 0, 10), code("CONTENT_NOT_FOUND"));
    await assert.rejects(at.kernel.readAnyContent(hash, 0, 10), code("CONTENT_NOT_FOUND"));
    await put();
    const { chunks } = await at.kernel.getContent(session.id, hash, 0, bytes.length);
    assert.equal(Buffer.concat(await Array.fromAsync(chunks)).length, bytes.length);
  });
});

it("completes an erasure interrupted by a crash at the next start, and stays sound in between", async () => {
  const store = createMemoryStore();
  let batches = 0;
  const crashing: MemoryStore = {
    ...store,
    get size() {
      return store.size;
    },
    append: (write) =>
      write.erasures !== undefined && ++batches === 2 ? Promise.reject(new Error("gone")) : store.append(write),
  };
  const at = await createTestKernel({ tools: [echoTool], store: crashing });
  const session = await at.open();
  const calls = 600;
  for (let number = 0; number < calls; number++) await session.call("echo", SECRET);
  await assert.rejects(at.kernel.erase({ ...WHO, hashes: [blake3(INPUT)] }), code("STORE_UNAVAILABLE"));
  const between = await verifyStore(store);
  assert.ok(between.erasedItems > 0 && between.erasedItems < 5 * calls);
  const next = await createTestKernel({ tools: [echoTool], store });
  assert.equal((await verifyStore(store)).erasedItems, 5 * calls);
  assert.equal(await next.kernel.statContent(blake3(INPUT)), undefined);
  assert.equal(await store.getState("meta", "erasure"), undefined);
  assert.deepEqual(await store.listState("erasing", "", 10), []);
});

describe("erasing a session", () => {
  it("erases what it granted to others that hold no copy of their own", async () => {
    const store = createMemoryStore();
    const contentStore = createMemoryContentStore();
    const at = await createTestKernel({ tools: [echoTool], store, contentStore });
    const parent = await at.open();
    const bytes = new Uint8Array(100_000).fill(3);
    async function* chunks(): AsyncGenerator<Uint8Array> {
      yield bytes;
    }
    const { hash } = await at.kernel.putContent({ sessionId: parent.id, door: "test", labels: [], chunks: chunks() });
    const child = await at.kernel.delegateLease({
      sessionId: parent.id,
      lease: { tool_patterns: ["*"] },
      labels: [],
      contentHashes: [hash],
    });
    await at.kernel.closeSession(parent.id);
    const report = await at.kernel.erase({ ...WHO, hashes: [], sessionIds: [parent.id] });
    assert.deepEqual([report.items, report.files, report.heldByOthers], [2, 1, 0]);
    await assert.rejects(at.kernel.getContent(child.session.session.id, hash, 0, 1));
    await verifyStore(store, contentStore);
  });

  it("rejects an open or unknown session", async () => {
    const at = await createTestKernel({ tools: [echoTool] });
    const { id } = await at.open();
    await assert.rejects(at.kernel.erase({ ...WHO, hashes: [], sessionIds: [id] }), code("CONTENT_IN_USE"));
    await assert.rejects(at.kernel.erase({ ...WHO, hashes: [], sessionIds: ["ses_x"] }), code("SESSION_UNKNOWN"));
  });

  it("erases all of its content, and nothing that others put or received themselves", async () => {
    const store = createMemoryStore();
    const at = await createTestKernel({ tools: [echoTool], store });
    const first = await at.open();
    const second = await at.open();
    await first.call("echo", SECRET);
    await first.call("echo", { mine: true });
    const kept = await second.call("echo", SECRET);
    await at.kernel.closeSession(first.id);
    const report = await at.kernel.erase({ ...WHO, hashes: [], sessionIds: [first.id] });
    assert.equal(report.items, 10);
    assert.equal(report.heldByOthers, 1);
    const again = await at.kernel.getContent(second.id, kept.hash ?? new Uint8Array(), 0, 1000);
    assert.deepEqual(Buffer.concat(await Array.fromAsync(again.chunks)), Buffer.from(INPUT));
    await verifyStore(store);
  });
});
