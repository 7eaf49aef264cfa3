import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { test } from "node:test";
import { WireType } from "@bufbuild/protobuf/wire";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { AdminService, create, encode, KernelService, type ToolRequest, ToolRequestSchema } from "@narthex/contracts";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@narthex/contracts/health";
import { toolCall, until } from "../test-socket.ts";
import { toKernelError } from "./connect-error.ts";
import {
  ADMIN,
  bearer,
  CALL,
  collect,
  grpc,
  grpcUnary,
  jsonCall,
  jsonOf,
  openDoor,
  post,
  put,
  READ,
  TRANSPORTS,
} from "./test-door.ts";

for (const [name, createTransport] of TRANSPORTS) {
  test(`${name}: a call, a denial, a stream, tools, content and the admin service`, async (t) => {
    const { kernel, baseUrl, budget } = await openDoor(t);
    const transport = createTransport(t, baseUrl);
    const client = createClient(KernelService, transport);

    const response = await client.call(toolCall(kernel, "r1", "echo", { text: "hällo" }));
    assert.equal(response.requestId, "r1");
    assert.equal(
      response.result.case === "success" && Buffer.from(response.result.value.inlineResult).toString(),
      `{"text":"hällo"}`,
    );
    assert.equal(
      kernel.calls[0]?.door,
      name.startsWith("connect") ? "connect" : name.startsWith("gRPC-Web") ? "grpc-web" : "grpc",
    );

    const denied = await client.call(create(ToolRequestSchema, { ...toolCall(kernel, "r2"), sessionToken: "wrong" }));
    assert.equal(denied.result.case === "denied" && denied.result.value.rationaleCode, "SESSION_UNKNOWN");

    const events = await collect(client.callStream(toolCall(kernel, "r3", "stream")));
    assert.deepEqual(
      events.map(({ event }) => event.case),
      ["chunk", "chunk", "chunk", "response"],
    );
    assert.equal(
      Buffer.concat(events.map(({ event }) => (event.case === "chunk" ? event.value : Buffer.alloc(0)))).toString(),
      "chunk 0\nchunk 1\nchunk 2\n",
    );

    const { tools } = await client.listTools({}, bearer(kernel.token));
    assert.equal(tools[0]?.name, "echo");

    const bytes = Buffer.alloc(200_000, 5);
    const stored = client.getContent({ hash: (await put(client, kernel, bytes)).hash }, bearer(kernel.token));
    const parts = await collect(stored);
    assert.equal(parts[0]?.part.case === "info" && parts[0].part.value.size, 200_000n);
    assert.deepEqual(
      Buffer.concat(parts.map(({ part }) => (part.case === "chunk" ? part.value : Buffer.alloc(0)))),
      bytes,
    );

    const admin = createClient(AdminService, transport);
    const opened = await admin.openSession({ workspace: "/w" }, bearer(ADMIN));
    assert.equal(opened.token, kernel.token);
    assert.equal(opened.session?.workspace, "/w");
    const verified = await collect(admin.verify({}, bearer(READ)));
    assert.deepEqual(
      verified.map(({ event }) => event.case),
      ["progress", "report"],
    );

    const health = createClient(Health, transport);
    assert.equal((await health.check({})).status, Status.SERVING);
    await until(() => budget.used === 0);
  });
}

test("rejects repeated fields that protobuf would merge over every protocol, and the kernel sees the raw bytes", async (t) => {
  const { kernel, port, baseUrl } = await openDoor(t);
  const good = encode(toolCall(kernel, "r"));
  const variants: readonly (readonly [string, Uint8Array, string])[] = [
    ["unknown field", Buffer.concat([good, Buffer.from([0xf8, 0x06, 0x01])]), "unknown_field"],
    [
      "duplicate field",
      Buffer.concat([
        good,
        encode(create(ToolRequestSchema, { dedupeKey: "a" })),
        encode(create(ToolRequestSchema, { dedupeKey: "b" })),
      ]),
      "duplicate",
    ],
    [
      "two variants",
      Buffer.concat([good, encode(create(ToolRequestSchema, { tool: { case: "fileRead", value: { path: "x" } } }))]),
      "one_of",
    ],
  ];
  for (const [what, bytes, rule] of variants) {
    const unary = await post({ port }, { headers: { "content-type": "application/proto" }, body: bytes });
    assert.equal(unary.status, 200, what);
    assert.ok(unary.body.includes("INVALID_REQUEST") && unary.body.includes(rule), what);
    const enveloped = await grpcUnary(t, baseUrl, bytes);
    assert.equal(enveloped.status, "0", what);
    assert.ok(enveloped.body.includes("INVALID_REQUEST") && enveloped.body.includes(rule), what);
  }
  assert.deepEqual(Buffer.from(kernel.calls[0]?.request as Uint8Array), Buffer.from(variants[0]?.[1] ?? []));
});

test("malformed bytes get a response over Connect, and a transport error over gRPC", async (t) => {
  const { kernel, port, baseUrl } = await openDoor(t);
  const garbage = Buffer.from([0xff, 0xff, 0xff]);
  const unary = await post({ port }, { headers: { "content-type": "application/proto" }, body: garbage });
  assert.equal(unary.status, 200);
  assert.ok(unary.body.includes("INVALID_REQUEST"));
  const enveloped = await grpcUnary(t, baseUrl, garbage);
  assert.equal(enveloped.status, String(Code.InvalidArgument));
  assert.equal(kernel.refusals.length, 2);
});

for (const [name, body, rule] of [
  ["duplicate keys", `{"requestId":"r","requestId":"s"}`, "duplicate"],
  ["one field under both its names", `{"requestId":"r","request_id":"s"}`, "duplicate"],
  ["an unknown field", `{"requestId":"r","nonsense":1}`, "unknown_field"],
  ["two variants", `{"requestId":"r","fileRead":{"path":"a"},"fileEdit":{"path":"a"}}`, "one_of"],
  ["a number for a text", `{"requestId":5}`, "malformed"],
  ["something that is not base64", `{"requestId":"r","call":{"name":"echo","input":"*"}}`, "malformed"],
  ["a lone surrogate", `{"requestId":"\\ud800"}`, ""],
  ["text after the value", `{"requestId":"r"} {}`, ""],
  ["an array", `[]`, "malformed"],
  ["nothing", ``, ""],
  ["nesting of 10,000 levels", "[".repeat(10_000), ""],
] as const) {
  test(`JSON with ${name} is INVALID_REQUEST`, async (t) => {
    const { kernel, port } = await openDoor(t);
    const answer = await post({ port }, { body });
    assert.equal(answer.status, 200);
    const { error } = jsonOf(answer);
    assert.equal(error?.errorCode, "INVALID_REQUEST");
    assert.ok(error.violations.length > 0);
    if (rule !== "") assert.ok(error.violations.some((violation) => violation.rule === rule));
    assert.equal(kernel.calls.length, 0);
    assert.deepEqual(
      kernel.refusals.map((refusal) => refusal.reason),
      ["invalid_json"],
    );
  });
}

test("rejects a JSON body above 8 MB, and the door continues", async (t) => {
  const { kernel, port, budget } = await openDoor(t);
  const answer = await post({ port }, { body: jsonCall(kernel, { dedupeKey: "x".repeat(9 * 1024 * 1024) }) });
  assert.equal(jsonOf(answer).error?.errorCode, "INVALID_REQUEST");
  const again = await post({ port }, { body: jsonCall(kernel) });
  assert.equal(jsonOf(again).requestId, "r");
  await until(() => budget.used === 0);
});

test("accepts a JSON body of several MB", async (t) => {
  const { kernel, port } = await openDoor(t);
  const content = Buffer.alloc(3 * 1024 * 1024, 1);
  const body = JSON.stringify({
    requestId: "r",
    sessionToken: kernel.token,
    fileWrite: { path: "a", content: content.toString("base64") },
  });
  const answer = await post({ port }, { body });
  assert.ok(jsonOf(answer).success);
  const request = kernel.calls[0]?.request as ToolRequest;
  assert.deepEqual(request.tool.case === "fileWrite" && Buffer.from(request.tool.value.content), content);
});

test("denies a large message with a wrong token before reading it", async (t) => {
  const { kernel, port, baseUrl } = await openDoor(t);
  const value = { path: "a", content: new Uint8Array(3 * 1024 * 1024) };
  const request = create(ToolRequestSchema, {
    requestId: "r",
    sessionToken: "wrong",
    tool: { case: "fileWrite", value },
  });
  const unary = await post({ port }, { headers: { "content-type": "application/proto" }, body: encode(request) });
  assert.ok(unary.body.includes("SESSION_UNKNOWN"));
  const denied = await createClient(KernelService, grpc(t, baseUrl)).call(request);
  assert.equal(denied.requestId, "r");
  assert.equal(denied.result.case, "denied");
  assert.equal(kernel.calls.length, 0);
});

test("a large message with its token in front arrives whole", async (t) => {
  const { kernel, baseUrl, budget } = await openDoor(t);
  const content = Buffer.alloc(5 * 1024 * 1024, 3);
  const request = create(ToolRequestSchema, {
    requestId: "r",
    sessionToken: kernel.token,
    tool: { case: "fileWrite", value: { path: "a", content } },
  });
  for (const transport of [
    grpc(t, baseUrl),
    createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: true }),
  ]) {
    assert.equal((await createClient(KernelService, transport).call(request)).result.case, "success");
  }
  for (const call of kernel.calls)
    assert.deepEqual(Buffer.from(call.request as Uint8Array), Buffer.from(encode(request)));
  await until(() => budget.used === 0);
});

test("faults carry the kernel's code to clients, without the details of unexpected ones", async (t) => {
  const { kernel, baseUrl } = await openDoor(t);
  const client = createClient(KernelService, grpc(t, baseUrl));
  const missing = collect(client.getContent({ hash: new Uint8Array(32) }, bearer(kernel.token)));
  await assert.rejects(missing, (error) => toKernelError(error).code === "CONTENT_NOT_FOUND");
  const short = collect(client.getContent({ hash: new Uint8Array(3) }, bearer(kernel.token)));
  await assert.rejects(short, (error) => toKernelError(error).violations[0]?.rule === "exact_length");
  kernel.listTools = () => {
    throw new Error("secret detail");
  };
  await assert.rejects(
    client.listTools({}, bearer(kernel.token)),
    (error) => error instanceof ConnectError && error.rawMessage === "internal error",
  );
});

test("a Session stream responds to calls as they are ready and ends with its client", async (t) => {
  const { kernel, baseUrl, budget } = await openDoor(t);
  const client = createClient(KernelService, grpc(t, baseUrl));
  async function* requests() {
    yield toolCall(kernel, "slow", "wait");
    for (let i = 0; i < 300; i++) yield toolCall(kernel, `r${i}`);
  }
  const ids: string[] = [];
  for await (const response of client.session(requests())) {
    ids.push(response.requestId);
    if (ids.length === 300) kernel.release();
  }
  assert.equal(ids.length, 301);
  assert.equal(ids[300], "slow");
  await until(() => budget.used === 0);
});

test("limits the calls of a Session stream", async (t) => {
  const { kernel, baseUrl } = await openDoor(t, { limits: { maxCallsPerStream: 3 } });
  const client = createClient(KernelService, grpc(t, baseUrl));
  async function* requests() {
    for (let i = 0; i < 10; i++) yield toolCall(kernel, `r${i}`, "wait");
  }
  const answered = collect(client.session(requests()));
  await until(() => kernel.waiting === 3);
  await createClient(Health, grpc(t, baseUrl)).check({});
  assert.equal(kernel.waiting, 3);
  const timer = setInterval(() => kernel.release(), 1);
  assert.equal((await answered).length, 10);
  clearInterval(timer);
});

test("limits the bytes of a Session stream", async (t) => {
  const { kernel, baseUrl } = await openDoor(t, { limits: { maxBytesPerStream: 100_000 } });
  const client = createClient(KernelService, grpc(t, baseUrl));
  async function* requests() {
    for (let i = 0; i < 6; i++) yield toolCall(kernel, `r${i}`, "wait", { text: "x".repeat(60_000) });
  }
  const answered = collect(client.session(requests()));
  await until(() => kernel.waiting === 2);
  await createClient(Health, grpc(t, baseUrl)).check({});
  assert.equal(kernel.waiting, 2);
  const timer = setInterval(() => kernel.release(), 1);
  assert.equal((await answered).length, 6);
  clearInterval(timer);
});

test("a malformed message ends a Session stream, after the responses to the others", async (t) => {
  const { kernel, baseUrl } = await openDoor(t);
  const client = createClient(KernelService, grpc(t, baseUrl));
  const broken = create(ToolRequestSchema, { requestId: "b" });
  broken.$unknown = [{ no: 900, wireType: WireType.LengthDelimited, data: Buffer.from([0x05, 0x01]) }];
  async function* requests() {
    yield toolCall(kernel, "good");
    yield broken;
  }
  const ids: string[] = [];
  await assert.rejects(
    async () => {
      for await (const { requestId } of client.session(requests())) ids.push(requestId);
    },
    (error) => error instanceof ConnectError && error.code === Code.InvalidArgument,
  );
  assert.deepEqual(ids, ["good"]);
});

test("rejects a Session over HTTP/1.1 with the advice to use HTTP/2", async (t) => {
  const { port } = await openDoor(t);
  const answer = await post(
    { port },
    { path: "/narthex.v1.KernelService/Session", headers: { "content-type": "application/connect+proto" } },
  );
  assert.equal(answer.status, 505);
});

test("a client that cancels or disconnects aborts its call", async (t) => {
  const { kernel, baseUrl, port } = await openDoor(t);
  const controller = new AbortController();
  const client = createClient(KernelService, grpc(t, baseUrl));
  const cancelled = client.call(toolCall(kernel, "r", "wait"), { signal: controller.signal });
  await until(() => kernel.waiting === 1);
  controller.abort();
  await assert.rejects(cancelled);
  await until(() => kernel.waiting === 0);

  const hungUp = httpRequest({
    port,
    host: "127.0.0.1",
    path: CALL,
    method: "POST",
    headers: { "content-type": "application/proto" },
    agent: false,
  });
  hungUp.on("error", () => undefined);
  hungUp.end(encode(toolCall(kernel, "s", "wait")));
  await until(() => kernel.waiting === 1);
  hungUp.destroy();
  await until(() => kernel.waiting === 0);

  const stream = client.callStream(toolCall(kernel, "u", "wait"), { signal: AbortSignal.timeout(30) });
  await assert.rejects(collect(stream));
  await until(() => kernel.waiting === 0);
});

test("passes deadlines of any length to the kernel", async (t) => {
  const { kernel, baseUrl, port } = await openDoor(t);
  await createClient(KernelService, grpc(t, baseUrl)).call(toolCall(kernel, "a"), { timeoutMs: 5000 });
  await post({ port }, { headers: { "connect-timeout-ms": "4000" }, body: jsonCall(kernel) });
  await post({ port }, { headers: { "connect-timeout-ms": "9999999999" }, body: jsonCall(kernel) });
  assert.equal(
    (await grpcUnary(t, baseUrl, encode(toolCall(kernel, "b")), { "grpc-timeout": "99999999H" })).status,
    "0",
  );
  const timeouts = kernel.calls.map((call) => call.timeoutMs ?? 0);
  assert.ok((timeouts[0] ?? 0) > 0 && (timeouts[0] ?? 0) <= 5000);
  assert.equal(timeouts[1], 4000);
  assert.equal(timeouts[2], 0x7fffffff);
});

test("leaves a deadline to the kernel: the door does not cancel the call when it passes", async (t) => {
  const { kernel, port, baseUrl } = await openDoor(t);
  const call = { name: "wait", input: "e30=" };
  const answered = post({ port }, { headers: { "connect-timeout-ms": "1" }, body: jsonCall(kernel, { call }) });
  await until(() => kernel.waiting === 1);
  // By the end of a call with a later deadline, this one's has passed.
  const later = createClient(KernelService, grpc(t, baseUrl)).call(toolCall(kernel, "u", "wait"), { timeoutMs: 20 });
  await assert.rejects(later);
  assert.equal(kernel.calls[0]?.signal?.aborted, false);
  kernel.release();
  assert.equal((await answered).status, 200);
});

test("rejects compressed requests", async (t) => {
  const { kernel, port, baseUrl } = await openDoor(t);
  const unary = await post({ port }, { headers: { "content-encoding": "gzip" }, body: jsonCall(kernel) });
  assert.equal(jsonOf(unary).code, "unimplemented");
  const { status } = await grpcUnary(t, baseUrl, encode(toolCall(kernel, "r")), { "grpc-encoding": "gzip" });
  assert.equal(status, String(Code.Unimplemented));
});

test("while the kernel closes, calls get UNAVAILABLE and health reports it", async (t) => {
  const { kernel, port, baseUrl } = await openDoor(t);
  kernel.closing = true;
  const answer = await post({ port }, { body: jsonCall(kernel) });
  assert.equal(answer.status, 503);
  assert.equal(jsonOf(answer).code, "unavailable");
  const transport = grpc(t, baseUrl);
  await assert.rejects(
    createClient(KernelService, transport).call(toolCall(kernel, "r")),
    (error) => error instanceof ConnectError && error.code === Code.Unavailable,
  );
  assert.equal((await createClient(Health, transport).check({})).status, Status.NOT_SERVING);
});
