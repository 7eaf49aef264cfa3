import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { serve } from "../serve.ts";
import { createTestKernel } from "../test-kernel.ts";
import { until } from "../test-socket.ts";
import type { McpHttpLimits } from "./mcp-http-limits.ts";

const REVISIONS = ["legacy", "auto"] as const;

async function open(t: TestContext, limits: Partial<McpHttpLimits> = {}, bytesInFlight = 1_000_000) {
  const kernel = createTestKernel();
  const serving = await serve(kernel, {
    services: [{ host: "127.0.0.1", port: 0 }],
    mcp: { version: "1", limits },
    bytesInFlight,
  });
  t.after(() => serving.close());
  const [listen] = serving.addresses.services;
  const url = new URL(`http://127.0.0.1:${listen !== undefined && "port" in listen ? listen.port : 0}/mcp`);
  const headers = {
    authorization: `Bearer ${kernel.token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const post = (body: object | string, more: Record<string, string> = {}): Promise<Response> =>
    fetch(url, {
      method: "POST",
      headers: { ...headers, ...more },
      body: typeof body === "string" ? body : JSON.stringify({ jsonrpc: "2.0", ...body }),
    });
  async function connect(mode: (typeof REVISIONS)[number]): Promise<Client> {
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    t.after(() => client.close());
    return client;
  }
  /** A connection of the previous revision, by the name it is given. */
  async function initialize(): Promise<string> {
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    const answer = await post({ id: "init", method: "initialize", params });
    await answer.text();
    return answer.headers.get("mcp-session-id") ?? assert.fail(`${answer.status}`);
  }
  return { kernel, serving, url, post, connect, initialize };
}

test("rejects a body above the limit before reading it, and a chunked one while reading", async (t) => {
  const { kernel, url, post } = await open(t, { maxBodyBytes: 1000 });
  assert.equal((await post("x".repeat(2000))).status, 413);
  const body = new ReadableStream({
    pull(controller) {
      controller.enqueue(new TextEncoder().encode("x".repeat(600)));
    },
  });
  const headers = { authorization: `Bearer ${kernel.token}`, "content-type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body, duplex: "half" });
  assert.equal(answer.status, 413);
  assert.deepEqual(
    kernel.refusals.map(({ door, reason }) => [door, reason]),
    [
      ["mcp", "too_large"],
      ["mcp", "too_large"],
    ],
  );
});

test("a stalled body times out", async (t) => {
  const { kernel, url } = await open(t, { bodyIdleTimeoutMs: 20 });
  const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode("{")) });
  const headers = { authorization: `Bearer ${kernel.token}`, "content-type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body, duplex: "half" });
  assert.equal(answer.status, 408);
});

test("rejects requests above the budget of bytes in flight, until there is room", async (t) => {
  const { post, kernel, initialize } = await open(t, {}, 600);
  const connection = { "mcp-session-id": await initialize() };
  const wait = (id: number) =>
    post({ id, method: "tools/call", params: { name: "wait", arguments: { a: "x".repeat(300) } } }, connection);
  for (const round of [1, 2]) {
    const running = await wait(round);
    await until(() => kernel.waiting === 1);
    assert.equal((await wait(9)).status, 503);
    kernel.release();
    assert.match(await running.text(), /"result"/);
  }
});

test("passes the arguments to the kernel as they were sent, in both revisions", async (t) => {
  const { kernel, post, initialize } = await open(t);
  const args = `{"text":5,"__proto__":{"polluted":1},"constructor":"c"}`;
  const params = `{"name":"echo","arguments":${args}`;
  const id = await initialize();
  await (
    await post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}}`, { "mcp-session-id": id })
  ).text();
  const meta = JSON.stringify({
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  });
  const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "echo" };
  await (
    await post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params},"_meta":${meta}}}`, headers)
  ).text();
  const inputs = kernel.calls.map(({ request }) =>
    request instanceof Uint8Array || request.tool.case !== "call"
      ? ""
      : Buffer.from(request.tool.value.input).toString(),
  );
  assert.deepEqual(inputs, [args, args]);
});

test("rejects a header that names another tool than the body", async (t) => {
  const { kernel, post } = await open(t);
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "harmless" };
  const answer = await post({ id: 1, method: "tools/call", params: { name: "echo", arguments: {}, _meta } }, headers);
  assert.equal(answer.status, 400);
  assert.equal(kernel.calls.length, 0);
});

test("rejects an id in use, and too many concurrent requests", async (t) => {
  const { kernel, post, initialize } = await open(t, { maxRequestsPerConnection: 2 });
  const connection = { "mcp-session-id": await initialize() };
  const wait = (id: number) => post({ id, method: "tools/call", params: { name: "wait", arguments: {} } }, connection);
  const running = [await wait(1), await wait(2)];
  await until(() => kernel.waiting === 2);
  assert.equal((await wait(1)).status, 400);
  assert.equal((await wait(3)).status, 429);
  kernel.release();
  for (const answer of running) assert.match(await answer.text(), /"result"/);
  const again = await wait(1);
  await until(() => kernel.waiting === 1);
  kernel.release();
  assert.match(await again.text(), /"result"/);
});

test("the least recently used connection makes room for another", async (t) => {
  const { post, initialize } = await open(t, { maxConnections: 2 });
  const ids = [await initialize(), await initialize(), await initialize()];
  const pings = ids.map((id) => post({ id: 1, method: "ping" }, { "mcp-session-id": id }));
  assert.deepEqual(
    (await Promise.all(pings)).map(({ status }) => status),
    [404, 200, 200],
  );
});

test("closes an idle connection", async (t) => {
  const { post, initialize } = await open(t, { idleTimeoutMs: 0, sweepMs: 10 });
  const connection = { "mcp-session-id": await initialize() };
  let status = 0;
  do {
    const answer = await post({ id: 1, method: "ping" }, connection);
    await answer.text();
    ({ status } = answer);
  } while (status === 200);
  assert.equal(status, 404);
});

test("in the previous revision a broken stream cancels nothing", async (t) => {
  const { kernel, url, initialize } = await open(t);
  const leaving = new AbortController();
  const answer = await fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${kernel.token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-session-id": await initialize(),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "wait", arguments: {} } }),
    signal: leaving.signal,
  });
  await until(() => kernel.waiting === 1);
  leaving.abort();
  await assert.rejects(answer.text());
  assert.equal(kernel.waiting, 1);
  kernel.release();
  await until(() => kernel.waiting === 0);
  assert.equal(kernel.calls.length, 1);
});

for (const mode of REVISIONS) {
  test(`${mode}: a client that disconnects cancels its call`, async (t) => {
    const { kernel, connect } = await open(t);
    const client = await connect(mode);
    const leaving = new AbortController();
    const calling = client.callTool({ name: "wait", arguments: {} }, { signal: leaving.signal });
    await until(() => kernel.waiting === 1);
    leaving.abort();
    await assert.rejects(calling);
    await until(() =>
      kernel.calls.some(({ request }) => !(request instanceof Uint8Array) && request.tool.case === "cancel"),
    );
  });

  test(`${mode}: an idle client does not keep the door open`, async (t) => {
    const { serving, connect } = await open(t);
    const client = await connect(mode);
    await client.listTools();
    await serving.close({ graceMs: 60_000 });
  });
}

const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

function currentCall(name: string, _meta: object = envelope, id: number | string = 1) {
  const body = { id, method: "tools/call", params: { name, arguments: { text: "hi" }, _meta } };
  return [body, { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name }] as const;
}

/** What goes by way of the SDK needs one of these. */
function countRequests(t: TestContext): () => number {
  const Original = globalThis.Request;
  let count = 0;
  globalThis.Request = class extends Original {
    constructor(...given: ConstructorParameters<typeof Original>) {
      super(...given);
      count++;
    }
  };
  t.after(() => {
    globalThis.Request = Original;
  });
  return () => count;
}

test("current revision: calls after the first get the same response without the SDK", async (t) => {
  const { kernel, post } = await open(t);
  const made = countRequests(t);
  const first = await post(...currentCall("echo"));
  const answer: unknown = await first.json();
  assert.equal(made(), 1);
  const second = await post(...currentCall("echo"));
  assert.deepEqual(await second.json(), answer);
  assert.equal(second.status, first.status);
  assert.deepEqual([...second.headers.keys()], [...first.headers.keys()]);
  assert.equal(second.headers.get("content-type"), first.headers.get("content-type"));
  assert.equal(made(), 1);
  await (await post(...currentCall("echo", { ...envelope, "x/y": 1 }))).json();
  assert.equal(made(), 2);
  assert.equal(kernel.calls.length, 3);
});

test("current revision: headers that contradict the body are still rejected after valid calls", async (t) => {
  const { kernel, post } = await open(t);
  await (await post(...currentCall("echo"))).json();
  const [body, headers] = currentCall("echo");
  for (const changes of [
    { "mcp-name": "other" },
    { "mcp-method": "tools/list" },
    { "mcp-protocol-version": "2025-11-25" },
  ]) {
    const refused = await post(body, { ...headers, ...changes });
    assert.equal(refused.status, 400, JSON.stringify(changes));
    await refused.text();
  }
  assert.equal((await post(body, { ...headers, authorization: "Bearer none" })).status, 401);
  assert.equal(kernel.calls.length, 1);
});

test("current revision: a client that disconnects cancels a call on the fast path", async (t) => {
  const { kernel, url, post } = await open(t);
  await (await post(...currentCall("echo"))).json();
  const made = countRequests(t);
  const [body, headers] = currentCall("wait");
  const client = new AbortController();
  const calling = fetch(url, {
    method: "POST",
    headers: { ...headers, authorization: `Bearer ${kernel.token}`, "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", ...body }),
    signal: client.signal,
  });
  await until(() => kernel.waiting === 1);
  client.abort();
  await assert.rejects(calling);
  await until(() => kernel.waiting === 0 && kernel.calls.length === 3);
  const [, waiting, cancel] = kernel.calls.map(({ request }) => request);
  assert.ok(waiting !== undefined && "requestId" in waiting && cancel !== undefined && "tool" in cancel);
  assert.ok(cancel.tool.case === "cancel" && cancel.tool.value.requestId === waiting.requestId);
  assert.equal(made(), 0);
});
