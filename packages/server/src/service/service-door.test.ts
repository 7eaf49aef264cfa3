import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from "@connectrpc/connect-node";
import {
  AdminService,
  create,
  encode,
  KernelService,
  type ToolRequest,
  ToolRequestSchema,
  VerifyReportSchema,
} from "@narthex/contracts";
import { createByteBudget } from "../byte-budget.ts";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../gen/grpc/health/v1/health_pb.js";
import { createTestKernel, type TestKernel } from "../test-kernel.ts";
import { socketPath, toolCall, until } from "../test-socket.ts";
import { toKernelError } from "./connect-error.ts";
import { openServiceDoor, type ServiceDoorOptions } from "./service-door.ts";

const CALL = "/narthex.v1.KernelService/Call";
const ADMIN = "admin-token";
const READ = "read-token";

async function openDoor(t: TestContext, options: Partial<ServiceDoorOptions> = {}) {
  const kernel = createTestKernel();
  const budget = createByteBudget(256 * 1024 * 1024);
  const door = await openServiceDoor({
    kernel,
    budget,
    listen: { host: "127.0.0.1", port: 0 },
    authorize: async (token) =>
      token === ADMIN
        ? { scope: "admin" }
        : token === READ
          ? { scope: "read" }
          : token === "approve-token"
            ? { scope: "approve" }
            : undefined,
    verify: async (onProgress) => {
      onProgress({ recordsDone: 1, recordsTotal: 2 });
      await new Promise((resolve) => setImmediate(resolve));
      return create(VerifyReportSchema, { intact: true, complete: true, records: 2n });
    },
    ...options,
  });
  t.after(() => door.close());
  const port = "port" in door.address ? door.address.port : 0;
  return { kernel, budget, door, port, baseUrl: `http://127.0.0.1:${port}` };
}

const TRANSPORTS: readonly (readonly [string, (t: TestContext, baseUrl: string) => Transport])[] = [
  [
    "connect over HTTP/1.1",
    (_, baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: true }),
  ],
  [
    "connect JSON over HTTP/1.1",
    (_, baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false }),
  ],
  [
    "connect over HTTP/2",
    (t, baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2", sessionManager: manager(t, baseUrl) }),
  ],
  [
    "connect JSON over HTTP/2",
    (t, baseUrl) =>
      createConnectTransport({
        baseUrl,
        httpVersion: "2",
        useBinaryFormat: false,
        sessionManager: manager(t, baseUrl),
      }),
  ],
  ["gRPC", (t, baseUrl) => createGrpcTransport({ baseUrl, sessionManager: manager(t, baseUrl) })],
  [
    "gRPC JSON",
    (t, baseUrl) => createGrpcTransport({ baseUrl, useBinaryFormat: false, sessionManager: manager(t, baseUrl) }),
  ],
  ["gRPC-Web over HTTP/1.1", (_, baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" })],
  [
    "gRPC-Web JSON over HTTP/2",
    (t, baseUrl) =>
      createGrpcWebTransport({
        baseUrl,
        httpVersion: "2",
        useBinaryFormat: false,
        sessionManager: manager(t, baseUrl),
      }),
  ],
];

function manager(t: TestContext, baseUrl: string): Http2SessionManager {
  const sessions = new Http2SessionManager(baseUrl);
  t.after(() => sessions.abort());
  return sessions;
}

function grpc(t: TestContext, baseUrl: string): Transport {
  return createGrpcTransport({ baseUrl, sessionManager: manager(t, baseUrl) });
}

function bearer(token: string) {
  return { headers: { authorization: `Bearer ${token}` } };
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** One raw HTTP/1.1 request. */
async function post(
  target: { readonly port: number } | { readonly socketPath: string },
  {
    path = CALL,
    method = "POST",
    headers = {},
    body = "",
  }: { path?: string; method?: string; headers?: Record<string, string>; body?: string | Uint8Array },
): Promise<Answer> {
  const outgoing = httpRequest({
    ...target,
    ...("port" in target ? { host: "127.0.0.1" } : {}),
    path,
    method,
    headers: { "content-type": "application/json", ...headers },
    agent: false,
  });
  outgoing.on("error", () => undefined);
  outgoing.end(body);
  const [response] = await once(outgoing, "response");
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) };
}

function jsonCall(kernel: TestKernel, fields: object = {}): string {
  const call = { name: "echo", input: Buffer.from("{}").toString("base64") };
  return JSON.stringify({ requestId: "r", sessionToken: kernel.token, call, ...fields });
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

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
    const stored = await client.getContent({ hash: (await put(client, kernel, bytes)).hash }, bearer(kernel.token));
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

async function put(
  client: ReturnType<typeof createClient<typeof KernelService>>,
  kernel: TestKernel,
  bytes: Uint8Array,
) {
  async function* parts() {
    yield { part: { case: "header" as const, value: { labels: ["a"] } } };
    for (let at = 0; at < bytes.length; at += 65_536) {
      yield { part: { case: "chunk" as const, value: bytes.subarray(at, at + 65_536) } };
    }
  }
  return await client.putContent(parts(), bearer(kernel.token));
}

test("what protobuf would merge is refused over every protocol, and the kernel sees the raw bytes", async (t) => {
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

/** One gRPC call of `Call` with the message given as bytes. */
async function grpcUnary(t: TestContext, baseUrl: string, message: Uint8Array, headers = {}) {
  const session = connectHttp2(baseUrl);
  t.after(() => session.destroy());
  const stream = session.request({
    ":method": "POST",
    ":path": CALL,
    "content-type": "application/grpc",
    te: "trailers",
    ...headers,
  });
  const envelope = Buffer.alloc(5);
  envelope.writeUInt32BE(message.length, 1);
  stream.end(Buffer.concat([envelope, message]));
  let status: unknown;
  stream.on("response", (head) => {
    status = head["grpc-status"] ?? status;
  });
  stream.on("trailers", (trailers) => {
    status = trailers["grpc-status"] ?? status;
  });
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  session.close();
  return { status, body: Buffer.concat(chunks) };
}

test("bytes that are no request: an answer over Connect, a transport error over gRPC", async (t) => {
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
  test(`JSON with ${name} is answered with INVALID_REQUEST`, async (t) => {
    const { kernel, port } = await openDoor(t);
    const answer = await post({ port }, { body });
    assert.equal(answer.status, 200);
    const { error } = JSON.parse(answer.body.toString());
    assert.equal(error.errorCode, "INVALID_REQUEST");
    assert.ok(error.violations.length > 0);
    if (rule !== "") assert.ok(error.violations.some((violation: { rule: string }) => violation.rule === rule));
    assert.equal(kernel.calls.length, 0);
    assert.deepEqual(
      kernel.refusals.map((refusal) => refusal.reason),
      ["invalid_json"],
    );
  });
}

test("a JSON body above 8 MB is refused, and the door goes on", async (t) => {
  const { kernel, port, budget } = await openDoor(t);
  const answer = await post({ port }, { body: jsonCall(kernel, { dedupeKey: "x".repeat(9 * 1024 * 1024) }) });
  assert.equal(JSON.parse(answer.body.toString()).error.errorCode, "INVALID_REQUEST");
  const again = await post({ port }, { body: jsonCall(kernel) });
  assert.equal(JSON.parse(again.body.toString()).requestId, "r");
  await until(() => budget.used === 0);
});

test("a JSON body of several MB is read", async (t) => {
  const { kernel, port } = await openDoor(t);
  const content = Buffer.alloc(3 * 1024 * 1024, 1);
  const body = JSON.stringify({
    requestId: "r",
    sessionToken: kernel.token,
    fileWrite: { path: "a", content: content.toString("base64") },
  });
  const answer = await post({ port }, { body });
  assert.ok(JSON.parse(answer.body.toString()).success);
  const request = kernel.calls[0]?.request as ToolRequest;
  assert.deepEqual(request.tool.case === "fileWrite" && Buffer.from(request.tool.value.content), content);
});

test("a large message with a wrong token is denied before it is read", async (t) => {
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

for (const [name, headers, status] of [
  ["another Host", { host: "evil.example" }, 403],
  ["a Host without the port", { host: "127.0.0.1" }, 403],
  ["a Host with another port", { host: "127.0.0.1:1" }, 403],
  ["an Origin of another site", { origin: "https://evil.example" }, 403],
  ["an Origin of another port", { origin: "http://127.0.0.1:1" }, 403],
  ["the Origin null", { origin: "null" }, 403],
] as const) {
  test(`a request with ${name} is refused`, async (t) => {
    const { kernel, port } = await openDoor(t);
    const answer = await post({ port }, { headers, body: jsonCall(kernel) });
    assert.equal(answer.status, status);
    assert.equal(kernel.calls.length, 0);
    assert.deepEqual(
      Object.keys(answer.headers).filter((header) => header.startsWith("access-control")),
      [],
    );
    assert.equal(kernel.refusals[0]?.door, "http");
  });
}

for (const method of ["GET", "HEAD", "PUT", "OPTIONS"]) {
  test(`${method} is not answered`, async (t) => {
    const { port } = await openDoor(t);
    const answer = await post({ port }, { method });
    assert.equal(answer.status, 405);
    assert.equal(answer.headers["allow"], "POST");
  });
}

test("the door's own names and Origin pass, over HTTP/1.1 and HTTP/2", async (t) => {
  const { kernel, port } = await openDoor(t);
  for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`]) {
    const answer = await post({ port }, { headers: { host, origin: `http://${host}` }, body: jsonCall(kernel) });
    assert.equal(answer.status, 200, host);
  }
});

test("an HTTP/2 request for another authority is refused", async (t) => {
  const { kernel, baseUrl } = await openDoor(t);
  const session = connectHttp2(baseUrl);
  t.after(() => session.destroy());
  const stream = session.request({
    ":method": "POST",
    ":path": CALL,
    ":authority": "evil.example",
    "content-type": "application/json",
  });
  stream.end(jsonCall(kernel));
  const [headers] = await once(stream, "response");
  assert.equal(headers[":status"], 403);
});

test("an unknown path is not found, an unknown content type not supported", async (t) => {
  const { port } = await openDoor(t);
  assert.equal((await post({ port }, { path: "/nowhere" })).status, 404);
  assert.equal((await post({ port }, { headers: { "content-type": "text/plain" } })).status, 415);
});

test("listening beyond loopback without TLS is refused", async () => {
  for (const host of ["0.0.0.0", "::", "192.168.1.1", "example.com"]) {
    const kernel = createTestKernel();
    const listen = { host, port: 0 };
    await assert.rejects(
      openServiceDoor({ kernel, listen, authorize: async () => undefined, verify: () => Promise.reject(new Error()) }),
      { code: "CONFIG_INVALID" },
    );
  }
});

test("a port in use is named", async (t) => {
  const { port, kernel } = await openDoor(t);
  const listen = { host: "127.0.0.1", port };
  await assert.rejects(
    openServiceDoor({ kernel, listen, authorize: async () => undefined, verify: () => Promise.reject(new Error()) }),
    { code: "HOME_BUSY" },
  );
});

test("bearer tokens: none, wrong ones and those of another scope open nothing", async (t) => {
  const { kernel, baseUrl } = await openDoor(t);
  const transport = grpc(t, baseUrl);
  const admin = createClient(AdminService, transport);
  const client = createClient(KernelService, transport);
  const refused: readonly (readonly [string, Promise<unknown>, Code])[] = [
    ["no token", admin.listSessions({}), Code.Unauthenticated],
    ["wrong token", admin.listSessions({}, bearer("wrong")), Code.Unauthenticated],
    ["session token for admin", admin.listSessions({}, bearer(kernel.token)), Code.PermissionDenied],
    ["approve token for reading", admin.listSessions({}, bearer("approve-token")), Code.PermissionDenied],
    ["read token for opening", admin.openSession({ workspace: "/w" }, bearer(READ)), Code.PermissionDenied],
    ["read token for closing", admin.closeSession({}, bearer(READ)), Code.PermissionDenied],
    ["read token for settling", admin.settleIntent({ answer: "happened" }, bearer(READ)), Code.PermissionDenied],
    ["tools without token", client.listTools({}), Code.Unauthenticated],
    ["tools with read token", client.listTools({}, bearer(READ)), Code.PermissionDenied],
    ["content without token", collect(client.getContent({ hash: new Uint8Array(32) })), Code.Unauthenticated],
    ["putting content as admin", client.putContent((async function* () {})(), bearer(ADMIN)), Code.PermissionDenied],
    [
      "a token that looks like a session's",
      client.listTools({}, bearer(`${kernel.token.slice(0, -1)}x`)),
      Code.Unauthenticated,
    ],
  ];
  for (const [what, call, code] of refused) {
    await assert.rejects(call, (error) => error instanceof ConnectError && error.code === code, what);
  }
  assert.ok(kernel.refusals.every((refusal) => refusal.door === "grpc"));
  assert.equal(kernel.refusals.length, refused.length);
});

test("an admin token lists tools and reads any content", async (t) => {
  const { kernel, baseUrl } = await openDoor(t);
  const client = createClient(KernelService, grpc(t, baseUrl));
  assert.equal((await client.listTools({}, bearer(ADMIN))).tools.length, 1);
  const { hash } = await put(client, kernel, Buffer.from("content"));
  assert.equal((await collect(client.getContent({ hash }, bearer(ADMIN)))).length, 2);
});

test("faults carry the kernel's code to clients, and nothing of unexpected ones", async (t) => {
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

test("a Session stream answers calls as they get ready and ends with its client", async (t) => {
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

test("a Session stream takes no more calls than it may hold", async (t) => {
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

test("a message that is no request ends a Session stream, after the answers of the others", async (t) => {
  const { kernel, baseUrl } = await openDoor(t);
  const client = createClient(KernelService, grpc(t, baseUrl));
  const broken = create(ToolRequestSchema, { requestId: "b" });
  broken.$unknown = [{ no: 900, wireType: 2, data: Buffer.from([0x05, 0x01]) }];
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

test("a Session over HTTP/1.1 is told to use HTTP/2", async (t) => {
  const { port } = await openDoor(t);
  const answer = await post(
    { port },
    { path: "/narthex.v1.KernelService/Session", headers: { "content-type": "application/connect+proto" } },
  );
  assert.equal(answer.status, 505);
});

test("a client that cancels or hangs up aborts its call", async (t) => {
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

test("deadlines reach the kernel, however long they are", async (t) => {
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
  assert.ok(kernel.calls.every((call) => call.signal?.aborted !== true || call.door !== "connect"));
});

test("a deadline that passes aborts the call", async (t) => {
  const { kernel, port } = await openDoor(t);
  const call = { name: "wait", input: "" };
  const answer = await post({ port }, { headers: { "connect-timeout-ms": "20" }, body: jsonCall(kernel, { call }) });
  assert.equal(JSON.parse(answer.body.toString()).error.errorCode, "CANCELLED");
});

test("compressed requests are refused", async (t) => {
  const { kernel, port, baseUrl } = await openDoor(t);
  const unary = await post({ port }, { headers: { "content-encoding": "gzip" }, body: jsonCall(kernel) });
  assert.equal(JSON.parse(unary.body.toString()).code, "unimplemented");
  const { status } = await grpcUnary(t, baseUrl, encode(toolCall(kernel, "r")), { "grpc-encoding": "gzip" });
  assert.equal(status, String(Code.Unimplemented));
});

test("while the kernel closes, calls are unavailable and health says so", async (t) => {
  const { kernel, port, baseUrl } = await openDoor(t);
  kernel.closing = true;
  const answer = await post({ port }, { body: jsonCall(kernel) });
  assert.equal(answer.status, 503);
  assert.equal(JSON.parse(answer.body.toString()).code, "unavailable");
  const transport = grpc(t, baseUrl);
  await assert.rejects(
    createClient(KernelService, transport).call(toolCall(kernel, "r")),
    (error) => error instanceof ConnectError && error.code === Code.Unavailable,
  );
  assert.equal((await createClient(Health, transport).check({})).status, Status.NOT_SERVING);
});

test("closing lets running calls finish, ends streams that never would, and takes no new connections", async (t) => {
  const { kernel, door, baseUrl, port } = await openDoor(t);
  const transport = grpc(t, baseUrl);
  const running = createClient(KernelService, transport).call(toolCall(kernel, "r", "wait"));
  const overHttp1 = post(
    { port },
    { body: jsonCall(kernel, { requestId: "s", call: { name: "wait", input: "e30=" } }) },
  );
  const watch = createClient(Health, transport).watch({})[Symbol.asyncIterator]();
  assert.equal((await watch.next()).value?.status, Status.SERVING);
  const tail = collect(createClient(AdminService, transport).tailLedger({}, bearer(READ)));
  tail.catch(() => undefined);
  await until(() => kernel.waiting === 2);
  const closing = door.close({ graceMs: 60_000 });
  assert.equal((await watch.next()).value?.status, Status.NOT_SERVING);
  kernel.release();
  assert.equal((await running).result.case, "success");
  assert.equal(JSON.parse((await overHttp1).body.toString()).requestId, "s");
  await closing;
  await assert.rejects(tail);
  const late = connect(port, "127.0.0.1");
  const [error] = await once(late, "error");
  assert.equal(error.code, "ECONNREFUSED");
});

test("closing hangs up when the grace is over", async (t) => {
  const { kernel, door, baseUrl } = await openDoor(t);
  const running = createClient(KernelService, grpc(t, baseUrl)).call(toolCall(kernel, "r", "wait"));
  running.catch(() => undefined);
  await until(() => kernel.waiting === 1);
  await door.close({ graceMs: 1 });
  await assert.rejects(running);
  await until(() => kernel.waiting === 0);
});

test("the same on a unix socket, whatever name its clients send", async (t) => {
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

test("slow clients are cut off: no first byte, half a head, half a body, half an envelope", async (t) => {
  const { kernel, port, baseUrl } = await openDoor(t, {
    limits: { prefaceTimeoutMs: 30, headersTimeoutMs: 60, bodyIdleTimeoutMs: 30 },
  });
  const head = `POST ${CALL} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n`;
  const starts = ["", "PRI * HT", head, `${head}content-type: application/json\r\ncontent-length: 100\r\n\r\n{"requ`];
  for (const start of starts) {
    const socket = connect(port, "127.0.0.1");
    t.after(() => socket.destroy());
    socket.write(start);
    socket.resume();
    await once(socket, "close");
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
  const [headers] = await once(stream, "response");
  assert.equal(headers["grpc-status"] ?? String(Code.DeadlineExceeded), String(Code.DeadlineExceeded));
  stream.resume();
  await once(stream, "end");
  session.close();
  const answer = await post({ port }, { body: jsonCall(kernel) });
  assert.equal(answer.status, 200);
});

test("two hundred connections with unfinished requests do not keep a valid call out", async (t) => {
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

test("garbage instead of HTTP is refused and nothing falls over", async (t) => {
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

test("one connection carries many calls", async (t) => {
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
