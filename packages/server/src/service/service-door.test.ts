import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectHttp2, type IncomingHttpHeaders } from "node:http2";
import { connect } from "node:net";
import { test } from "node:test";
import { Code, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { AdminService, KernelService } from "@narthex/contracts";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@narthex/contracts/health";
import { createTestKernel } from "../test-kernel.ts";
import { socketPath, toolCall, until } from "../test-socket.ts";
import { openServiceDoor } from "./service-door.ts";
import { bearer, CALL, collect, grpc, jsonCall, jsonOf, nextOf, openDoor, post, READ } from "./test-door.ts";
import { TEST_IDENTITY } from "./test-identity.ts";

test("rejects listening beyond loopback without TLS", async () => {
  for (const host of ["0.0.0.0", "::", "192.168.1.1", "example.com"]) {
    const kernel = createTestKernel();
    const listen = { host, port: 0 };
    await assert.rejects(
      openServiceDoor({ kernel, listen, authorize: async () => undefined, verify: () => Promise.reject(new Error()) }),
      { code: "CONFIG_INVALID" },
    );
  }
});

test("serves the same services with TLS, also beyond loopback", async (t) => {
  const { kernel, port } = await openDoor(t, {
    listen: { host: "0.0.0.0", port: 0 },
    tls: TEST_IDENTITY,
    hostNames: ["kernel.example"],
  });
  const baseUrl = `https://localhost:${port}`;
  const nodeOptions = { ca: TEST_IDENTITY.cert };
  const overHttp2 = createGrpcTransport({ baseUrl, nodeOptions });
  const overHttp1 = createConnectTransport({ baseUrl, httpVersion: "1.1", nodeOptions });
  for (const transport of [overHttp2, overHttp1]) {
    assert.equal((await createClient(KernelService, transport).call(toolCall(kernel, "r"))).requestId, "r");
  }
  const plain = connect(port, "127.0.0.1");
  t.after(() => plain.destroy());
  plain.on("error", () => undefined);
  plain.resume();
  plain.write("POST / HTTP/1.1\r\n\r\n");
  await once(plain, "close");
  assert.deepEqual(
    kernel.refusals.map((refusal) => refusal.reason),
    ["bad_tls"],
  );
});

test("GET /healthz returns 200 while calls are accepted and 503 afterwards, and / is not found without a console", async (t) => {
  const { port, kernel } = await openDoor(t);
  const get = async (path: string, method = "GET") => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, redirect: "manual" });
    return [response.status, await response.text()];
  };
  assert.deepEqual(await get("/healthz"), [200, "ok\n"]);
  assert.deepEqual(await get("/healthz", "HEAD"), [200, ""]);
  assert.deepEqual(await get("/"), [405, "use POST\n"]);
  assert.deepEqual(await get("/healthz", "PUT"), [405, "use POST\n"]);
  const foreign = await fetch(`http://127.0.0.1:${port}/healthz`, { headers: { origin: "https://evil.example" } });
  assert.equal(foreign.status, 403);
  Object.defineProperty(kernel, "closing", { value: true });
  assert.deepEqual(await get("/healthz"), [503, "shutting down\n"]);
});

test("names a port in use", async (t) => {
  const { port, kernel } = await openDoor(t);
  const listen = { host: "127.0.0.1", port };
  await assert.rejects(
    openServiceDoor({ kernel, listen, authorize: async () => undefined, verify: () => Promise.reject(new Error()) }),
    { code: "HOME_BUSY" },
  );
});

test("closing lets running calls finish, ends endless streams, and accepts no new connections", async (t) => {
  const { kernel, door, baseUrl, port } = await openDoor(t);
  const transport = grpc(t, baseUrl);
  const running = createClient(KernelService, transport).call(toolCall(kernel, "r", "wait"));
  const overHttp1 = post(
    { port },
    { body: jsonCall(kernel, { requestId: "s", call: { name: "wait", input: "e30=" } }) },
  );
  const watch = createClient(Health, transport).watch({})[Symbol.asyncIterator]();
  assert.equal((await nextOf(watch)).status, Status.SERVING);
  const tail = collect(createClient(AdminService, transport).tailLedger({}, bearer(READ)));
  tail.catch(() => undefined);
  await until(() => kernel.waiting === 2);
  const closing = door.close({ graceMs: 60_000 });
  assert.equal((await nextOf(watch)).status, Status.NOT_SERVING);
  kernel.release();
  assert.equal((await running).result.case, "success");
  assert.equal(jsonOf(await overHttp1).requestId, "s");
  await closing;
  await assert.rejects(tail);
  const late = connect(port, "127.0.0.1");
  const [error] = (await once(late, "error")) as [NodeJS.ErrnoException];
  assert.equal(error.code, "ECONNREFUSED");
});

test("after the grace period running calls are cancelled, and respond if possible", async (t) => {
  const { kernel, door, baseUrl } = await openDoor(t);
  const running = createClient(KernelService, grpc(t, baseUrl)).call(toolCall(kernel, "r", "wait"));
  await until(() => kernel.waiting === 1);
  const closing = door.close({ graceMs: 1 });
  const { result } = await running;
  assert.equal(result.case === "error" && result.value.errorCode, "CANCELLED");
  await closing;
});

test("a call that cannot be cancelled does not keep the door open", async (t) => {
  const { kernel, door, baseUrl } = await openDoor(t);
  let started = false;
  kernel.call = () => {
    started = true;
    return new Promise(() => undefined);
  };
  const running = createClient(KernelService, grpc(t, baseUrl)).call(toolCall(kernel, "r", "wait"));
  running.catch(() => undefined);
  await until(() => started);
  await door.close({ graceMs: 1 });
  await assert.rejects(running);
});

test("works the same on a unix socket, whatever host name its clients send", async (t) => {
  const path = await socketPath(t);
  const { kernel } = await openDoor(t, { listen: { path } });
  for (const host of ["localhost", "narthex", ""]) {
    const answer = await post({ socketPath: path }, { headers: { host }, body: jsonCall(kernel) });
    assert.equal(answer.status, 200, host);
  }
  assert.equal(
    (await post({ socketPath: path }, { headers: { host: "evil.example" }, body: jsonCall(kernel) })).status,
    403,
  );
  const origin = await post(
    { socketPath: path },
    { headers: { host: "localhost", origin: "http://localhost" }, body: jsonCall(kernel) },
  );
  assert.equal(origin.status, 403);
  const transport = createGrpcTransport({
    baseUrl: "http://localhost",
    nodeOptions: { createConnection: () => connect(path) },
  });
  assert.equal((await createClient(KernelService, transport).call(toolCall(kernel, "r"))).requestId, "r");
});

test("disconnects slow clients: no first byte, half a head, half a body, half an envelope", async (t) => {
  const { kernel, port, baseUrl } = await openDoor(t, {
    limits: { prefaceTimeoutMs: 300, headersTimeoutMs: 400, bodyIdleTimeoutMs: 300 },
  });
  const head = `POST ${CALL} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n`;
  const starts = ["", "PRI * HT", head, `${head}content-type: application/json\r\ncontent-length: 100\r\n\r\n{"requ`];
  for (const start of starts) {
    const socket = connect(port, "127.0.0.1");
    t.after(() => socket.destroy());
    // A connection that is reset is cut off, too.
    socket.on("error", () => undefined);
    socket.write(start);
    socket.resume();
    await new Promise((resolve) => socket.once("close", resolve));
  }
  const session = connectHttp2(baseUrl);
  t.after(() => session.destroy());
  const stream = session.request({
    ":method": "POST",
    ":path": CALL,
    "content-type": "application/grpc",
    te: "trailers",
  });
  stream.write(Buffer.from([0, 0, 0, 1, 0, 1, 2]));
  const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders];
  assert.equal(headers["grpc-status"] ?? String(Code.DeadlineExceeded), String(Code.DeadlineExceeded));
  stream.resume();
  await once(stream, "end");
  session.close();
  const answer = await post({ port }, { body: jsonCall(kernel) });
  assert.equal(answer.status, 200);
});

test("two hundred connections with unfinished requests do not block a valid call", async (t) => {
  const { kernel, port } = await openDoor(t);
  const body = `{"dedupeKey":"${"x".repeat(60_000)}`;
  const start = `POST ${CALL} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\ncontent-length: 900000\r\n\r\n${body}`;
  for (let i = 0; i < 200; i++) {
    const socket = connect(port, "127.0.0.1");
    t.after(() => socket.destroy());
    socket.on("error", () => undefined);
    socket.write(start);
  }
  const answer = await post({ port }, { body: jsonCall(kernel) });
  assert.equal(answer.status, 200);
  const large = jsonCall(kernel, {
    metadata: undefined,
    call: { name: "echo", input: Buffer.alloc(300_000, 32).toString("base64") },
  });
  assert.equal((await post({ port }, { body: large })).status, 200);
});

test("rejects garbage instead of HTTP, and keeps running", async (t) => {
  const { kernel, port } = await openDoor(t);
  for (const garbage of [
    Buffer.alloc(1000, 0xff),
    Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n garbage that is no frame"),
    Buffer.from("\x16\x03\x01"),
  ]) {
    const socket = connect(port, "127.0.0.1");
    t.after(() => socket.destroy());
    socket.on("error", () => undefined);
    socket.resume();
    socket.write(garbage);
    await once(socket, "close");
  }
  assert.ok(kernel.refusals.length > 0);
  assert.equal((await post({ port }, { body: jsonCall(kernel) })).status, 200);
});

test("serves many calls on one connection", async (t) => {
  const { kernel, port } = await openDoor(t);
  const socket = connect(port, "127.0.0.1");
  t.after(() => socket.destroy());
  const body = jsonCall(kernel);
  const one = `POST ${CALL} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  socket.write(one + one + one);
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk;
  });
  await until(() => received.split("HTTP/1.1 200").length === 4);
  assert.ok(!received.includes("connection: close"));
});
