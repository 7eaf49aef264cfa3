import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { type Entry, fromBinary, RecordSchema } from "@narthex/contracts";
import { createWaitingTool } from "@narthex/testkit";
import { createKernel, defineTool, serve, verifyLedger } from "narthex";
import { type Answer, resultHash, startGrpcClient, toolRequest } from "./grpc-client.ts";

type EntryKind = Entry["kind"];
type EntryOf<K> = Extract<EntryKind, { case: K }>["value"];

const directory = await mkdtemp(join(tmpdir(), "narthex-foreign-"));
const waiting = ["wait_left", "wait_cancelled", "wait_streamed"].map((name) => createWaitingTool(name));
const [left, cancelled, streamed] = waiting;
const unlisted = defineTool({
  name: "unlisted",
  description: "No rule permits it.",
  inputSchema: true,
  effects: ["artifact"],
  capabilities: [{ kind: "artifact", names: ["*"] }],
  run: () => assert.fail("it ran"),
});
const rules = waiting.map(({ tool }) => `permit(principal, action == Action::"${tool.name}", resource);`);
const opened = await createKernel({
  data: join(directory, "home"),
  tools: [...waiting.map(({ tool }) => tool), unlisted],
  policies: [{ name: "slow.cedar", text: rules.join("\n") }],
});
const session = await opened.session({ workspace: await mkdtemp(join(directory, "workspace-")) });
const { token } = session;
const doors = await serve(opened, { services: [{ host: "127.0.0.1", port: 0 }] });
const [address] = doors.addresses.services;
assert.ok(address !== undefined && "port" in address);
const python = await startGrpcClient(`${address.host}:${address.port}`);
after(async () => {
  await python.stop();
  await doors.close();
  await opened.close();
  await rm(directory, { recursive: true });
});

test("a Python client is denied a call that no rule permits", async () => {
  const { denied } = await python.ask<Answer>({ do: "call", request: toolRequest(token, "u", "unlisted", 1) });
  assert.equal(denied?.rationaleCode, "NO_MATCHING_RULE");
});

test("a Python client cancels a running call by disconnecting: CANCELLED for the client and in the ledger", async () => {
  await python.ask({ do: "begin", name: "left", request: toolRequest(token, "left", "wait_left", 1) });
  await left?.started;
  assert.equal(await python.ask({ do: "cancel", name: "left" }), "CANCELLED");
  assert.equal((await entryOf("left", "toolFailed")).code, "CANCELLED");
});

test("a Python client cancels a running call by a request: the call responds CANCELLED, and both are recorded", async () => {
  const running = toolRequest(token, "running", "wait_cancelled", 1);
  await python.ask({ do: "begin", name: "running", request: running });
  await cancelled?.started;
  const cancel = { requestId: "cancel", sessionToken: token, cancel: { requestId: "running" } };
  const confirmed = await python.ask<Answer>({ do: "call", request: cancel });
  assert.ok(confirmed.success !== undefined, JSON.stringify(confirmed));
  const answer = await python.ask<Answer>({ do: "finish", name: "running" });
  assert.equal(answer.error?.errorCode, "CANCELLED");
  assert.equal((await entryOf("running", "toolFailed")).code, "CANCELLED");
  const { requestId, found } = await entryOf("cancel", "callCancelled");
  assert.deepEqual({ requestId, found }, { requestId: "running", found: true });
});

test("a Python client gets responses on a Session stream as they are ready, not in the order of its requests", async () => {
  const ids = Array.from({ length: 100 }, (_, index) => `quick-${index}`);
  await python.ask({ do: "open_stream", name: "mixed" });
  await python.ask({ do: "send", name: "mixed", requests: [toolRequest(token, "first", "wait_streamed", 1)] });
  await streamed?.started;
  await python.ask({ do: "send", name: "mixed", requests: ids.map((id) => toolRequest(token, id, "echo", id)) });
  const quick = await python.ask<Answer[]>({ do: "receive", name: "mixed", count: ids.length });
  assert.deepEqual(quick.map(({ requestId }) => requestId).sort(), ids.sort());
  streamed?.finish();
  const { rest, status } = await python.ask<{ rest: Answer[]; status: string }>({ do: "end_stream", name: "mixed" });
  assert.equal(status, "OK");
  assert.deepEqual(
    rest.map(({ requestId, success }) => [requestId, success?.resultHash]),
    [["first", resultHash({ waited: true })]],
  );
});

test("a Python client leaves a ledger that verifies, with slow tools too", async () => {
  const report = await verifyLedger(opened.ledgerSource());
  assert.deepEqual([report.intact, report.complete], [true, true]);
});

/** The last entry of a request, once it is one of this kind. */
async function entryOf<K extends EntryKind["case"]>(requestId: string, kind: K): Promise<EntryOf<K>> {
  const enough = new AbortController();
  for await (const { record } of opened.tailRecords({ fromIndex: 0, chain: session.id, signal: enough.signal })) {
    const { requestId: of, entries } = fromBinary(RecordSchema, record);
    const last = entries.at(-1)?.kind;
    if (of !== requestId || last?.case !== kind) continue;
    enough.abort();
    return last.value as EntryOf<K>;
  }
  return assert.fail(`no ${kind} of ${requestId}`);
}
