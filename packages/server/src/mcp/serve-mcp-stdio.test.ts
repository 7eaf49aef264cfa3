import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { type TestContext, test } from "node:test";
import { create, type ToolInfo, ToolResponseSchema } from "@narthex/contracts";
import { createTestKernel } from "../test-kernel.ts";
import { until } from "../test-socket.ts";
import { createKernelCaller, type McpCaller } from "./mcp-caller.ts";
import { type McpStdioOptions, serveMcpStdio } from "./serve-mcp-stdio.ts";

interface Message {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: {
    readonly tools?: readonly Record<string, unknown>[];
    readonly content?: readonly { readonly text: string }[];
    readonly structuredContent?: unknown;
    readonly isError?: boolean;
    readonly protocolVersion?: string;
    readonly supportedVersions?: readonly string[];
  };
  readonly error?: { readonly code: number; readonly message: string };
}

const CURRENT = "2026-07-28";
const PREVIOUS = "2025-11-25";

async function open(t: TestContext, options: Partial<McpStdioOptions> = {}) {
  const kernel = createTestKernel();
  const caller = await createKernelCaller(kernel, kernel.token);
  const input = new PassThrough();
  const output = new PassThrough();
  const door = serveMcpStdio({ caller, version: "0.1.0", input, output, ...options });
  t.after(() => door.close());
  const received: Message[] = [];
  let text = "";
  output.on("data", (chunk) => {
    text += chunk;
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) received.push(JSON.parse(line) as Message);
  });
  const sendLine = (line: string): void => void input.write(`${line}\n`);
  const send = (message: object): void => sendLine(JSON.stringify({ jsonrpc: "2.0", ...message }));
  async function answerTo(id: string | number): Promise<Message> {
    await until(() => received.some((message) => message.id === id && message.method === undefined));
    return received.find((message) => message.id === id && message.method === undefined) ?? {};
  }
  return { kernel, door, input, received, send, sendLine, answerTo };
}

type Opened = Awaited<ReturnType<typeof open>>;

async function initialize({ send, answerTo }: Opened): Promise<void> {
  const clientInfo = { name: "test", version: "1" };
  send({ id: "init", method: "initialize", params: { protocolVersion: PREVIOUS, capabilities: {}, clientInfo } });
  assert.equal((await answerTo("init")).result?.protocolVersion, PREVIOUS);
  send({ method: "notifications/initialized" });
}

const envelope = {
  "io.modelcontextprotocol/protocolVersion": CURRENT,
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

function callerOf(changes: Partial<McpCaller>): McpCaller {
  const notUsed = (): never => {
    throw new Error("not in this test");
  };
  return {
    listTools: async () => [],
    call: () => Promise.reject(new Error("not in this test")),
    cancel: () => undefined,
    readContent: notUsed,
    explain: notUsed,
    approvals: { find: notUsed, findForNotice: async () => undefined, decide: notUsed, decline: notUsed },
    refuse: () => undefined,
    ...changes,
  };
}

for (const [name, line, code] of [
  ["that is not JSON", `{"id": 7,`, -32700],
  [
    "with a key given twice",
    `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"a":1,"a":2}}}`,
    -32700,
  ],
  [
    "with a number that does not survive",
    `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"a":9007199254740993}}}`,
    -32700,
  ],
  [
    "that nests too deeply",
    `{"jsonrpc":"2.0","id":7,"method":"x","params":${"[".repeat(500)}${"]".repeat(500)}}`,
    -32700,
  ],
  ["that is a batch", `[{"jsonrpc":"2.0","id":7,"method":"ping"}]`, -32600],
  ["that is no message", `{"id":7,"hello":true}`, -32600],
] as const) {
  test(`a line ${name} gets an error, and the door continues`, async (t) => {
    const opened = await open(t);
    await initialize(opened);
    opened.sendLine(line);
    await until(() => opened.received.some((message) => message.error !== undefined));
    assert.equal(opened.received.find((message) => message.error !== undefined)?.error?.code, code);
    assert.equal(opened.kernel.calls.length, 0);
    assert.equal(opened.kernel.refusals[0]?.door, "mcp");
    opened.send({ id: 8, method: "tools/call", params: { name: "echo", arguments: { text: "x" } } });
    assert.equal((await opened.answerTo(8)).result?.isError, undefined);
  });
}

test("a line above the limit is dropped and gets an error", async (t) => {
  const opened = await open(t, { maxLineBytes: 1000 });
  await initialize(opened);
  opened.sendLine("x".repeat(5000));
  await until(() => opened.received.some((message) => message.error?.code === -32600));
  opened.send({ id: 1, method: "tools/list" });
  assert.equal((await opened.answerTo(1)).result?.tools?.length, 1);
});

for (const [era, prepare, meta] of [
  ["previous", initialize, undefined],
  ["current", async () => undefined, envelope],
] as const) {
  test(`${era} revision: lists tools with their schemas and hints, and calls them`, async (t) => {
    const opened = await open(t);
    await prepare(opened);
    const params = meta === undefined ? {} : { _meta: meta };
    opened.send({ id: 1, method: "tools/list", params });
    const [tool] = (await opened.answerTo(1)).result?.tools ?? [];
    assert.deepEqual(tool?.["inputSchema"], { type: "object", properties: { text: { type: "string" } } });
    assert.deepEqual(tool?.["outputSchema"], { type: "object" });
    assert.deepEqual(tool?.["annotations"], { readOnlyHint: true, openWorldHint: false });
    opened.send({ id: 2, method: "tools/call", params: { name: "echo", arguments: { text: "hi" }, ...params } });
    const { result } = await opened.answerTo(2);
    assert.deepEqual(result?.structuredContent, { text: "hi" });
    assert.equal(result?.content?.[0]?.text, `{"text":"hi"}`);
    assert.equal(opened.kernel.calls[0]?.door, "mcp");
  });
}

/** Calls that need the SDK no more share one signal, that of their connection. */
const isPlain = ({ kernel }: Opened, call: number): boolean =>
  kernel.calls.some(({ signal }, other) => other !== call && signal === kernel.calls[call]?.signal);

for (const [era, prepare, meta] of [
  ["previous", initialize, {}],
  ["current", async () => undefined, envelope],
] as const) {
  test(`${era} revision: calls after the first get the same response, on either path`, async (t) => {
    const opened = await open(t);
    await prepare(opened);
    const call = async (id: number | string, name: string, _meta: object): Promise<Message> => {
      opened.send({ id, method: "tools/call", params: { name, arguments: { text: "hi" }, _meta } });
      return opened.answerTo(id);
    };
    const { result } = await call(1, "echo", meta);
    for (const id of [2, "three"]) assert.deepEqual(await call(id, "echo", meta), { jsonrpc: "2.0", id, result });
    assert.deepEqual((await call(4, "echo", { ...meta, "x/y": 1 })).result, result);
    assert.deepEqual((await call(5, "stream", { ...meta, progressToken: 1 })).result?.content, result?.content);
    await call(6, "stream", { ...meta, progressToken: 1 });
    assert.equal(opened.received.filter(({ method }) => method === "notifications/progress").length, 6);
    assert.deepEqual(
      opened.kernel.calls.map((_, index) => isPlain(opened, index)),
      [false, true, true, false, false, false],
    );
  });
}

test("a call on the fast path can be cancelled, and its id reused", async (t) => {
  const opened = await open(t);
  await initialize(opened);
  const call = (id: number, name: string) =>
    opened.send({ id, method: "tools/call", params: { name, arguments: { id } } });
  call(1, "echo");
  await opened.answerTo(1);
  call(2, "wait");
  call(2, "wait");
  await until(() => opened.received.some((message) => message.error?.code === -32600));
  opened.send({ method: "notifications/cancelled", params: { requestId: 2 } });
  await until(() => opened.kernel.calls.length === 3);
  const [, waiting, cancel] = opened.kernel.calls.map(({ request }) => request);
  assert.ok(waiting !== undefined && "requestId" in waiting && cancel !== undefined && "tool" in cancel);
  assert.ok(cancel.tool.case === "cancel" && cancel.tool.value.requestId === waiting.requestId);
  opened.kernel.release();
  call(3, "echo");
  await opened.answerTo(3);
  assert.ok(!opened.received.some(({ id, result }) => id === 2 && result !== undefined));
  call(2, "echo");
  await until(() => opened.received.some(({ id, result }) => id === 2 && result !== undefined));
  call(4, "wait");
  await until(() => opened.kernel.waiting === 1);
  await opened.door.close();
  await until(() => opened.kernel.waiting === 0);
});

test("calls of a client with elicitation all take the path that supports it", async (t) => {
  const opened = await open(t, { elicitation: true });
  await initialize(opened);
  const call = async (id: number): Promise<void> => {
    opened.send({ id, method: "tools/call", params: { name: "echo", arguments: {} } });
    await opened.answerTo(id);
  };
  for (const id of [1, 2, 3]) await call(id);
  const clientInfo = { name: "test", version: "1" };
  const params = { protocolVersion: PREVIOUS, capabilities: { elicitation: {} }, clientInfo };
  opened.send({ id: "again", method: "initialize", params });
  for (const id of [4, 5, 6]) await call(id);
  assert.deepEqual(
    opened.kernel.calls.map((_, index) => isPlain(opened, index)),
    [false, true, true, false, false, false],
  );
});

test("the current revision is discovered", async (t) => {
  const { send, answerTo } = await open(t);
  send({ id: 1, method: "server/discover", params: { _meta: envelope } });
  assert.deepEqual((await answerTo(1)).result?.supportedVersions, [CURRENT]);
});

test("the kernel gets the arguments as they were sent, whatever the schema", async (t) => {
  const opened = await open(t);
  await initialize(opened);
  const args = `{"text":5,"extra":[null,{"deep":true}],"__proto__":{"polluted":1},"constructor":"c"}`;
  opened.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":${args}}}`);
  await opened.answerTo(1);
  const request = opened.kernel.calls[0]?.request;
  assert.ok(request !== undefined && !(request instanceof Uint8Array) && request.tool.case === "call");
  assert.equal(Buffer.from(request.tool.value.input).toString(), args);
});

test("rejects an id in use", async (t) => {
  const opened = await open(t);
  await initialize(opened);
  opened.send({ id: 1, method: "tools/call", params: { name: "wait", arguments: { a: 1 } } });
  opened.send({ id: 1, method: "tools/call", params: { name: "echo", arguments: { a: 2 } } });
  await until(() => opened.received.some((message) => message.error?.code === -32600));
  await until(() => opened.kernel.waiting === 1);
  opened.kernel.release();
  assert.equal((await opened.answerTo(1)).result?.content?.[0]?.text, '{"a":1}');
  assert.equal(opened.kernel.calls.length, 1);
});

test("a denial says which rule, why and what to do next", async (t) => {
  const denied = { ruleId: "no-push", rationaleCode: "NO_MATCHING_RULE", message: "nothing allows it" };
  const response = create(ToolResponseSchema, { requestId: "r", result: { case: "denied", value: denied } });
  const opened = await open(t, { caller: callerOf({ call: async () => response }) });
  await initialize(opened);
  opened.send({ id: 1, method: "tools/call", params: { name: "x" } });
  const { result } = await opened.answerTo(1);
  assert.equal(result?.isError, true);
  assert.match(
    result?.content?.[0]?.text ?? "",
    /^Denied by rule no-push \(NO_MATCHING_RULE\): nothing allows it\nNext: ./,
  );
});

test("an error names every violation, the approval and what to do next", async (t) => {
  const error = {
    errorCode: "APPROVAL_PENDING",
    message: "waiting",
    violations: [{ field: "text", rule: "required", message: "is missing" }],
    approvalId: "apr_1",
    retryAfterMs: 5n,
  };
  const response = create(ToolResponseSchema, { requestId: "r", result: { case: "error", value: error } });
  const opened = await open(t, { caller: callerOf({ call: async () => response }) });
  await initialize(opened);
  opened.send({ id: 1, method: "tools/call", params: { name: "x" } });
  const text = (await opened.answerTo(1)).result?.content?.[0]?.text ?? "";
  for (const part of ["APPROVAL_PENDING: waiting", "- text: is missing", "apr_1", "5 ms", "Next: "]) {
    assert.ok(text.includes(part), part);
  }
});

test("a caller's fault is an error result without its details", async (t) => {
  const opened = await open(t, { caller: callerOf({ call: () => Promise.reject(new Error("secret")) }) });
  await initialize(opened);
  opened.send({ id: 1, method: "tools/call", params: { name: "x" } });
  const { result } = await opened.answerTo(1);
  assert.equal(result?.isError, true);
  assert.ok(!JSON.stringify(result).includes("secret"));
});

test("declared structured output that is too large to send is reported", async (t) => {
  const success = { view: "cut", resultType: "object", resultSize: 8_000_000n, cut: true };
  const response = create(ToolResponseSchema, { requestId: "r", result: { case: "success", value: success } });
  const [info] = await (await createKernelCaller(createTestKernel(), createTestKernel().token)).listTools();
  const infos: ToolInfo[] = info === undefined ? [] : [info];
  const opened = await open(t, { caller: callerOf({ call: async () => response, listTools: async () => infos }) });
  await initialize(opened);
  opened.send({ id: 1, method: "tools/call", params: { name: "echo" } });
  const { result } = await opened.answerTo(1);
  assert.equal(result?.content?.[0]?.text, "cut");
  assert.match(result?.content?.[1]?.text ?? "", /succeeded.*result_read/);
});

test("a cancelled call is aborted and gets no response", async (t) => {
  const opened = await open(t);
  await initialize(opened);
  opened.send({ id: 1, method: "tools/call", params: { name: "wait", arguments: {} } });
  await until(() => opened.kernel.waiting === 1);
  opened.send({ method: "notifications/cancelled", params: { requestId: 1 } });
  await until(() => opened.kernel.waiting === 0);
  opened.send({ id: 2, method: "tools/list" });
  await opened.answerTo(2);
  assert.ok(!opened.received.some((message) => message.id === 1));
});

test("output of a running tool becomes progress if the client asked for it", async (t) => {
  const opened = await open(t);
  await initialize(opened);
  opened.send({
    id: 1,
    method: "tools/call",
    params: { name: "stream", arguments: {}, _meta: { progressToken: "p" } },
  });
  await opened.answerTo(1);
  const progress = opened.received.filter((message) => message.method === "notifications/progress");
  assert.deepEqual(
    progress.map((message) => message.params),
    [
      { progressToken: "p", progress: 8, message: "chunk 0\n" },
      { progressToken: "p", progress: 16, message: "chunk 1\n" },
      { progressToken: "p", progress: 24, message: "chunk 2\n" },
    ],
  );
});

test("reads nothing more while the maximum of calls is running", async (t) => {
  const opened = await open(t, { maxCalls: 2 });
  await initialize(opened);
  for (let id = 1; id <= 4; id++) opened.send({ id, method: "tools/call", params: { name: "wait", arguments: {} } });
  await until(() => opened.kernel.waiting >= 2);
  const timer = setInterval(() => opened.kernel.release(), 1);
  for (let id = 1; id <= 4; id++) await opened.answerTo(id);
  clearInterval(timer);
});

test("a client that stops sending gets its last responses, then the door closes", async (t) => {
  const opened = await open(t);
  await initialize(opened);
  opened.send({ id: 1, method: "tools/call", params: { name: "wait", arguments: {} } });
  opened.input.end();
  await until(() => opened.kernel.waiting === 1);
  opened.kernel.release();
  await opened.answerTo(1);
  await opened.door.closed;
});

test("output of other code does not reach the client", async (t) => {
  const { execFile } = await import("node:child_process");
  const { promisify } = await import("node:util");
  const script = `
    import { serveMcpStdio } from ${JSON.stringify(new URL("./serve-mcp-stdio.ts", import.meta.url).href)};
    const caller = { listTools: async () => { console.log("noise"); process.stdout.write("more noise\\n"); return []; }, call: async () => {}, refuse() {} };
    await serveMcpStdio({ caller, version: "1" }).closed;
  `;
  const child = promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]);
  const clientInfo = { name: "test", version: "1" };
  const params = { protocolVersion: PREVIOUS, capabilities: {}, clientInfo };
  child.child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
  child.child.stdin?.end(`${JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/list" })}\n`);
  const { stdout, stderr } = await child;
  t.diagnostic(stderr);
  const ids = stdout
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as Message).id);
  assert.deepEqual(ids, [1, 2]);
  assert.match(stderr, /noise\nmore noise/);
});
