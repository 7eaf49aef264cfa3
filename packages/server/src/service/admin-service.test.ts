import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createClient } from "@connectrpc/connect";
import {
  AdminService,
  ContentPlace,
  ContentRole,
  create,
  fromBinary,
  RecordContentSchema,
  RecordSchema,
  toBinary,
  VerifyReportSchema,
} from "@narthex/contracts";
import type { OpenSessionOptions } from "@narthex/kernel";
import { toKernelError } from "./connect-error.ts";
import { ADMIN, bearer, collect, grpc, nextOf, openDoor, READ } from "./test-door.ts";

async function admin(t: TestContext, options = {}) {
  const { kernel, baseUrl } = await openDoor(t, options);
  const data = Buffer.from('{"command":"secret"}');
  const item = { place: ContentPlace.ROW, role: ContentRole.INPUT, size: BigInt(data.length), data };
  const content = toBinary(RecordContentSchema, create(RecordContentSchema, { items: [item] }));
  const record = {
    index: 0,
    chain: "system",
    sequence: 0,
    hash: new Uint8Array(32),
    record: toBinary(RecordSchema, create(RecordSchema, { chain: "system" })),
    content,
  };
  kernel.records.push(record);
  return { kernel, client: createClient(AdminService, grpc(t, baseUrl)) };
}

const isCode = (code: string) => (error: unknown) => toKernelError(error).code === code;

test("rejects what cannot be opened, found or settled with its code", async (t) => {
  const { client } = await admin(t);
  await assert.rejects(client.openSession({ workspace: "/w", lease: "{" }, bearer(ADMIN)), isCode("LEASE_INVALID"));
  await assert.rejects(
    client.openSession({ workspace: "/w", lease: `{"x":1}` }, bearer(ADMIN)),
    isCode("LEASE_INVALID"),
  );
  await assert.rejects(
    client.openSession({ workspace: "/w", seed: new Uint8Array(5) }, bearer(ADMIN)),
    isCode("INVALID_INPUT"),
  );
  await assert.rejects(
    client.openSession({ workspace: "/w", ttlMs: 2n ** 60n }, bearer(ADMIN)),
    isCode("INVALID_INPUT"),
  );
  await assert.rejects(client.getSession({ sessionId: "none" }, bearer(READ)), isCode("SESSION_UNKNOWN"));
  await assert.rejects(
    client.getRecord({ which: { case: "index", value: 99n } }, bearer(READ)),
    isCode("RECORD_NOT_FOUND"),
  );
  await assert.rejects(client.getRecord({}, bearer(READ)), isCode("INVALID_INPUT"));
  await assert.rejects(client.statContent({ hash: new Uint8Array(1) }, bearer(READ)), isCode("INVALID_INPUT"));
  await assert.rejects(client.settleIntent({ answer: "maybe" }, bearer(ADMIN)), isCode("INVALID_INPUT"));
});

test("opens a session with all requested options", async (t) => {
  const { kernel, client } = await admin(t);
  let given: OpenSessionOptions | undefined;
  const open = kernel.openSession;
  kernel.openSession = (options) => {
    given = options;
    return open(options);
  };
  const seed = new Uint8Array(32).fill(1);
  const lease = `{"tool_patterns":["echo"],"ttl_ms":5}`;
  const request = {
    workspace: "/w",
    workingDirectory: "/w/a",
    tenant: "t",
    user: "u",
    agent: "a",
    seed,
    lease,
    ttlMs: 9n,
    labels: ["secret"],
  };
  const { session, token } = await client.openSession(request, bearer(ADMIN));
  assert.equal(token, kernel.token);
  assert.equal(session?.sessionId, kernel.sessionId);
  assert.ok(session?.lease.includes(`"holder":"${kernel.sessionId}"`));
  assert.deepEqual(given, {
    workspace: "/w",
    workingDirectory: "/w/a",
    tenant: "t",
    user: "u",
    agent: "a",
    seed,
    lease: { tool_patterns: ["echo"], ttl_ms: 5 },
    ttlMs: 9,
    labels: ["secret"],
  });
});

test("shows sessions, intents and content", async (t) => {
  const { kernel, client } = await admin(t);
  assert.equal((await client.listSessions({}, bearer(READ))).sessions.length, 1);
  assert.equal((await client.getSession({ sessionId: kernel.sessionId }, bearer(READ))).session?.state, "open");
  assert.equal((await client.closeSession({ sessionId: kernel.sessionId }, bearer(ADMIN))).session?.calls, 3n);
  assert.deepEqual((await client.listIntents({}, bearer(READ))).intents, []);
  assert.equal((await client.statContent({ hash: new Uint8Array(32) }, bearer(READ))).found, false);
  assert.equal((await client.settleIntent({ answer: "happened" }, bearer(ADMIN))).recordIndex, 5n);
});

test("erases and collects content, and rejects an invalid hash", async (t) => {
  const { client } = await admin(t);
  const named = { reason: "asked for", by: "ada" };
  await assert.rejects(
    client.eraseContent({ ...named, hashes: [new Uint8Array(3)] }, bearer(ADMIN)),
    isCode("INVALID_INPUT"),
  );
  const erased = await client.eraseContent({ ...named, hashes: [new Uint8Array(32)] }, bearer(ADMIN));
  assert.deepEqual([erased.items, erased.recordIndexes], [2n, [7n]]);
  const collected = await client.collectContent({ maxAgeMs: 0n }, bearer(ADMIN));
  assert.deepEqual([collected.items, collected.keptBytes], [3n, 4n]);
});

test("lists records without content, and shows one with its content but without the bytes", async (t) => {
  const { client } = await admin(t);
  const { records } = await client.listRecords({ newest: true }, bearer(READ));
  assert.deepEqual([records[0]?.content.length, records[0]?.subject], [0, ""]);
  const { records: whole } = await client.listRecords({ newest: true }, bearer(ADMIN));
  assert.deepEqual([whole[0]?.content.length, whole[0]?.subject], [0, "secret"]);
  const { record } = await client.getRecord({ which: { case: "index", value: 0n } }, bearer(READ));
  const { items } = fromBinary(RecordContentSchema, record?.content ?? new Uint8Array(0));
  assert.equal(items[0]?.size, 20n);
  assert.equal(items[0]?.data.length, 0);
});

test("a tail continues until its reader leaves", async (t) => {
  const { client } = await admin(t);
  for await (const { record } of client.tailLedger({ fromIndex: 0n }, bearer(READ))) {
    assert.equal(record?.index, 0n);
    break;
  }
});

test("a verification stops when its reader leaves, and reports its failure", async (t) => {
  let stopped: Promise<void> | undefined;
  const { client } = await admin(t, {
    verify: (_request: object, onProgress: (progress: object) => void, signal: AbortSignal) => {
      onProgress({ recordsDone: 1, recordsTotal: 2 });
      stopped = new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
      return stopped.then(() => create(VerifyReportSchema));
    },
  });
  const controller = new AbortController();
  const events = client.verify({}, { ...bearer(READ), signal: controller.signal })[Symbol.asyncIterator]();
  assert.equal((await nextOf(events)).event.case, "progress");
  controller.abort();
  await stopped;
  const failing = await admin(t, { verify: () => Promise.reject(new Error("details")) });
  await assert.rejects(collect(failing.client.verify({}, bearer(READ))), isCode("INTERNAL"));
});
