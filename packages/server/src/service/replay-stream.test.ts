import assert from "node:assert/strict";
import { test } from "node:test";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { AdminService } from "@narthex/contracts";
import { toKernelError } from "./connect-error.ts";
import type { ReplaySelection } from "./replay-stream.ts";
import { ADMIN, bearer, collect, grpc, nextOf, openDoor, READ } from "./test-door.ts";

const isCode = (code: string) => (error: unknown) => toKernelError(error).code === code;
const isDenied = (error: unknown): boolean => error instanceof ConnectError && error.code === Code.PermissionDenied;

test("streams a replay's findings as they occur, to admin and read tokens only", async (t) => {
  const asked: ReplaySelection[] = [];
  const { baseUrl } = await openDoor(t, {
    async *replay(wanted) {
      asked.push(wanted);
      yield { event: { case: "call", value: { finding: "diverged", divergence: { stage: "keep" } } } };
      yield { event: { case: "report", value: { sessionId: wanted.sessionIds[0] ?? "", clean: false } } };
    },
  });
  const client = createClient(AdminService, grpc(t, baseUrl));
  for (const token of [ADMIN, READ]) {
    const found = await collect(client.replay({ sessionIds: ["ses_a"], skipVerify: true }, bearer(token)));
    assert.deepEqual(
      found.map(({ event }) => event.case),
      ["call", "report"],
    );
  }
  assert.deepEqual([asked[0]?.sessionIds, asked[0]?.skipVerify, asked[0]?.listCalls], [["ses_a"], true, false]);
  await assert.rejects(collect(client.replay({}, bearer("approve-token"))), isDenied);
  assert.equal(asked.length, 2);
});

test("a replay ends when its reader leaves, stays within its limit, and reports its failure", async (t) => {
  const stopped = Promise.withResolvers<void>();
  let made = 0;
  const { baseUrl } = await openDoor(t, {
    async *replay(_, signal) {
      signal.addEventListener("abort", () => stopped.resolve());
      while (!signal.aborted) {
        made++;
        yield { event: { case: "call", value: { finding: "same", requestId: "x".repeat(10_000) } } };
      }
    },
  });
  const controller = new AbortController();
  const client = createClient(AdminService, grpc(t, baseUrl));
  const options = { ...bearer(READ), signal: controller.signal };
  const events = client.replay({}, options)[Symbol.asyncIterator]();
  assert.equal((await nextOf(events)).event.case, "call");
  controller.abort();
  await stopped.promise;
  assert.ok(made < 100_000);
  const failing = await openDoor(t, {
    replay: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("details")) }) }),
  });
  await assert.rejects(
    collect(createClient(AdminService, grpc(t, failing.baseUrl)).replay({}, bearer(READ))),
    isCode("INTERNAL"),
  );
});

test("an export requires an administrator, as it contains all content", async (t) => {
  const { baseUrl } = await openDoor(t, {
    async *exportLedger(sessionId) {
      yield Buffer.from(`${sessionId} `);
      yield Buffer.alloc(600_000, "x");
    },
  });
  const client = createClient(AdminService, grpc(t, baseUrl));
  await assert.rejects(collect(client.exportLedger({}, bearer(READ))), isDenied);
  const chunks = await collect(client.exportLedger({ sessionId: "ses_a" }, bearer(ADMIN)));
  const bytes = Buffer.concat(chunks.map(({ chunk }) => chunk));
  assert.equal(bytes.toString(), `ses_a ${"x".repeat(600_000)}`);
  assert.ok(chunks.every(({ chunk }) => chunk.length <= 600_000) && chunks.length > 1);
});

test("a kernel without a replayer or an exporter says so", async (t) => {
  const { baseUrl } = await openDoor(t);
  const client = createClient(AdminService, grpc(t, baseUrl));
  await assert.rejects(collect(client.replay({}, bearer(READ))), isCode("INTERNAL"));
  await assert.rejects(collect(client.exportLedger({}, bearer(ADMIN))), isCode("INTERNAL"));
});
