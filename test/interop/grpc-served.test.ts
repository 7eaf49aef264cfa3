import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { canonicalJsonBytes, MAX_INLINE_RESULT_BYTES } from "@narthex/contracts";
import { createTestHome } from "../cli/home.ts";
import { type Answer, resultHash, startGrpcClient, toolRequest } from "./grpc-client.ts";

const home = await createTestHome();
const serving = await home.serve();
const session = await home.openSession();
const { token } = session;
const python = await startGrpcClient(new URL(String(serving.ready["listen"])).host);
const call = (fields: object): Promise<Answer> => python.ask({ do: "call", request: fields });
after(async () => {
  await python.stop();
  assert.equal(await serving.stop(), 0);
  await home.remove();
});

test("a Python client is denied without a session, and for a tool outside its lease, with the reason", async () => {
  const stranger = await call(toolRequest("ntx_ses_nobody", "stranger", "echo", 1));
  assert.equal(stranger.denied?.rationaleCode, "SESSION_UNKNOWN");
  const adminToken = readFileSync(join(home.home, "run", "admin.token"), "utf8").trim();
  const lease = JSON.stringify({ tool_patterns: ["hash"] });
  const opened = await python.ask<{ token: string }>({
    do: "admin",
    method: "OpenSession",
    token: adminToken,
    request: { workspace: home.workspace, lease },
  });
  const narrow = await call(toolRequest(opened.token, "narrow", "echo", 1));
  assert.equal(narrow.denied?.rationaleCode, "LEASE_SCOPE");
  assert.match(narrow.denied?.ruleId ?? "", /^kernel:/);
});

test("a Python client without a token gets the reason in the status", async () => {
  for (const method of ["ListTools", "ListSessions"]) {
    assert.equal(await python.ask({ do: "status_of", method, token: "wrong" }), "UNAUTHENTICATED", method);
  }
});

test("a Python client gets every problem of a bad input and of a bad request", async () => {
  const input = await call(toolRequest(token, "bad-input", "hash", { dat: 1, data: 2 }));
  assert.equal(input.error?.errorCode, "INVALID_INPUT");
  assert.deepEqual(input.error?.violations?.map(({ field }) => field).sort(), ["dat", "data"]);
  const nothing = await call({ requestId: "", sessionToken: token });
  assert.equal(nothing.error?.errorCode, "INVALID_REQUEST");
  assert.deepEqual(
    nothing.error?.violations?.map(({ field }) => field),
    ["request_id", "tool"],
  );
});

test("a Python client echoes, and the response's hash is that of the canonical input", async () => {
  const value = { greeting: "grüße", list: [1, 2.5, null], deep: { b: true, a: "\u{1f600}" } };
  const { requestId, success } = await call(toolRequest(token, "echo", "echo", value));
  assert.equal(requestId, "echo");
  assert.equal(success?.resultHash, resultHash(value));
  assert.deepEqual(JSON.parse(Buffer.from(success?.inlineResult ?? "", "base64").toString()), value);
  const { tools } = await python.ask<{ tools: { name: string }[] }>({ do: "list_tools", token });
  assert.ok(tools.some(({ name }) => name === "echo"));
});

test("a Python client reads a result beyond the inline limit from the content store, and b3sum confirms its hash", async () => {
  const value = { text: "ä".repeat(MAX_INLINE_RESULT_BYTES) };
  const { success } = await call(toolRequest(token, "big", "echo", value));
  assert.equal(success?.inlineResult, undefined);
  assert.equal(success?.resultHash, resultHash(value));
  const size = canonicalJsonBytes(value).length;
  assert.equal(success?.resultSize, String(size));
  const hash = Buffer.from(success?.resultHash ?? "", "base64").toString("hex");
  const content = await python.ask({ do: "get_content", token, hash });
  assert.deepEqual(content, { hash, size, received: size, b3sum: hash });
});

test("a Python client puts content in pieces and gets the hash that b3sum computes", async () => {
  const text = "0123456789".repeat(300_000);
  const put = await python.ask<{ hash: string; size: number; b3sum: string }>({
    do: "put_content",
    token,
    text,
    pieces: 7,
  });
  assert.deepEqual(put, { hash: put.b3sum, size: text.length, b3sum: put.b3sum });
  const { received, b3sum } = await python.ask<{ received: number; b3sum: string }>({
    do: "get_content",
    token,
    hash: put.hash,
  });
  assert.deepEqual({ received, b3sum }, { received: text.length, b3sum: put.hash });
});

test("a Python client makes 1,000 calls on one Session stream, each with exactly one response and its own result", async () => {
  const ids = Array.from({ length: 1000 }, (_, index) => `stream-${index}`);
  await python.ask({ do: "open_stream", name: "many" });
  const requests = ids.map((id, index) => toolRequest(token, id, index % 10 === 9 ? "nothing" : "echo", { id }));
  await python.ask({ do: "send", name: "many", requests });
  const { rest, status } = await python.ask<{ rest: Answer[]; status: string }>({ do: "end_stream", name: "many" });
  assert.equal(status, "OK");
  const answers = new Map(rest.map((answer) => [answer.requestId, answer]));
  assert.equal(rest.length, ids.length);
  assert.equal(answers.size, ids.length);
  for (const [index, id] of ids.entries()) {
    const answer = answers.get(id);
    if (index % 10 === 9) assert.equal(answer?.error?.errorCode, "TOOL_NOT_FOUND", id);
    else assert.equal(answer?.success?.resultHash, resultHash({ id }), id);
  }
});

test("a Python client leaves a ledger that verifies", async () => {
  const report = await home.ask(["ledger", "verify"]);
  assert.deepEqual([report["intact"], report["complete"]], [true, true]);
});
