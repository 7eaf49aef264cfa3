import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { after, test } from "node:test";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { create, KernelService, ToolRequestSchema } from "@narthex/contracts";
import { createKernel, defineTool, verifyLedger } from "narthex";

const directory = await mkdtemp(join(tmpdir(), "narthex-embedded-"));
const workspace = await mkdtemp(join(directory, "workspace-"));
const release = Promise.withResolvers<void>();
const started = Promise.withResolvers<void>();

const lines = defineTool({
  name: "lines",
  description: "Says some lines, one after the other.",
  inputSchema: { type: "object", properties: { count: { type: "integer" } }, required: ["count"] },
  resultType: "stream",
  tier: "read_only",
  redactors: [{ secrets: ["hunter2"], replacement: "[hidden]" }],
  run: async function* ({ count }) {
    for (let i = 0; i < count; i++) yield Buffer.from(`line ${i} hunter2\n`);
  },
});
const slow = defineTool({
  name: "slow",
  description: "Answers when it is let go.",
  inputSchema: true,
  tier: "read_only",
  run: async () => {
    started.resolve();
    await release.promise;
    return "done";
  },
});
const asked = defineTool({
  name: "asked",
  description: "Is asked about.",
  inputSchema: true,
  tier: "privileged",
  run: () => "done",
});
const policies = [
  {
    name: "test.cedar",
    text: [
      ...["lines", "slow"].map((tool) => `permit(principal, action == Action::"${tool}", resource);`),
      '@id("ask") @approve("human") permit(principal, action == Action::"asked", resource);',
    ].join("\n"),
  },
];
/** Code without types can give anything. */
const untyped = (options: object): never => options as never;
const plain = { description: "Says something.", inputSchema: true, run: () => "done" } as const;
const lateFacts = { schema: { type: "object", properties: { risky: { type: "boolean" } } }, of: async () => ({}) };
const late = [
  defineTool(untyped({ ...plain, name: "late_facts", derived: lateFacts })),
  defineTool(untyped({ ...plain, name: "late_spending", reserves: async () => ({ cost_units: 5 }) })),
  defineTool(untyped({ ...plain, name: "misspelt_spending", reserves: () => ({ costUnits: 5 }) })),
];
const tools = [lines, slow, asked, ...late];
const kernel = await createKernel({ data: join(directory, "home"), tools, policies });
const session = await kernel.session({ workspace });
const transport = createConnectTransport({
  baseUrl: "http://localhost",
  httpVersion: "1.1",
  nodeOptions: { socketPath: kernel.sockets.services },
});
const client = createClient(KernelService, transport);
after(() => rm(directory, { recursive: true }));

const request = (tool: string, input: string, requestId: string) =>
  create(ToolRequestSchema, {
    requestId,
    sessionToken: session.token,
    tool: { case: "call", value: { name: tool, input: Buffer.from(input) } },
  });

test("an unknown option is rejected wherever it would narrow something", async () => {
  const { token } = session;
  const opened: [() => Promise<unknown>, RegExp][] = [
    [
      () => createKernel({ home: directory } as object),
      /options of createKernel: `home` is not known; known are data,/,
    ],
    [() => createKernel([] as object), /createKernel takes an object of options/],
    [() => kernel.session(undefined as unknown as { workspace: string }), /a session takes an object of options/],
    [() => kernel.session({ workspace, tools: ["lines"] } as { workspace: string }), /`tools` is not known/],
    [() => kernel.session({ workspace, lease: { toolPatterns: ["lines"] } as object }), /did you mean tool_patterns\?/],
    [() => kernel.delegateLease({ token, leases: { tool_patterns: [] } } as { token: string }), /did you mean lease\?/],
  ];
  for (const [opening, message] of opened) await assert.rejects(opening, { name: "KernelError", message });
});

test("an unknown decision does not approve, and the request stays open", async () => {
  const calling = session.call("asked", 1);
  const watching = new AbortController();
  for await (const { open } of kernel.watchApprovals(watching.signal)) {
    const [question] = open;
    if (question === undefined) continue;
    const no = { approvalId: question.approvalId, approver: "ann", door: "test" };
    for (const answer of ["denied", "no", false, undefined]) {
      await assert.rejects(() => kernel.resolveApproval(untyped({ ...no, answer })), {
        code: "INVALID_INPUT",
        message: /`answer` must be one of once, session, rule, deny/,
      });
    }
    assert.equal(kernel.listApprovals().open.length, 1);
    await kernel.resolveApproval({ ...no, answer: "deny" });
    break;
  }
  watching.abort();
  assert.equal((await calling).status, "denied");
});

test("a misspelt dry-run option erases nothing", async () => {
  const chunks = async function* () {
    yield Buffer.from("kept");
  };
  const put = { sessionId: session.id, door: "test", labels: [], chunks: chunks() };
  const expected_hash = new Uint8Array(32);
  await assert.rejects(() => kernel.putContent(untyped({ ...put, expected_hash })), /did you mean expectedHash\?/);
  const { hash } = await kernel.putContent(put);
  const erasure = { hashes: [hash], sessionIds: [], reason: "test", by: "ann" };
  const refused: [Promise<unknown>, RegExp][] = [
    [kernel.erase(untyped({ ...erasure, dryrun: true })), /did you mean dryRun\?; `dryRun` must be true or false/],
    [kernel.erase(untyped({ ...erasure, dryRun: "yes" })), /`dryRun` must be true or false/],
    [kernel.collect(untyped({ dry_run: true, maxAgeMs: 0 })), /did you mean dryRun\?/],
    [kernel.collect(untyped({ dryRun: false, maxAgeMs: Number.NaN })), /`maxAgeMs` must be a number from 0 on/],
    [kernel.undo(untyped({ sessionId: session.id, by: "ann", dryrun: true })), /did you mean dryRun\?/],
    [
      kernel.settleIntent(untyped({ sessionId: session.id, requestId: "r", answer: "no", by: "ann" })),
      /`answer` must be one of happened, did_not_happen/,
    ],
    [kernel.revokeLease(untyped({})), /`leaseId` must be text; `reason` must be text; `by` must be text/],
    [kernel.delegateLease(untyped({})), /`sessionId` must be text/],
    [kernel.close(untyped({ grace: 0 })), /options of close: `grace` is not known; did you mean graceMs\?/],
    [verifyLedger(kernel.ledgerSource(), untyped({ trustedkey: 1 })), /`trustedkey` is not known/],
  ];
  for (const [asking, message] of refused) {
    await assert.rejects(asking, { name: "KernelError", code: "INVALID_INPUT", message });
  }
  assert.equal((await kernel.statContent(hash))?.size, 4);
});

test("a misspelt tool, policy or approver option opens no kernel", async () => {
  const data = join(directory, "misspelt");
  const tool = { name: "tool", description: "Does.", inputSchema: true, run: () => 1 };
  assert.throws(() => defineTool(untyped({ ...tool, effect: ["fs_write"] })), {
    code: "INVALID_DECLARATION",
    message: /options of defineTool: `effect` is not known; did you mean effects\?/,
  });
  const refused: [object, string, RegExp][] = [
    [{ tools: [{ ...lines, redactor: [] }] }, "INVALID_DECLARATION", /did you mean redactors\?/],
    [{ tools: [tool] }, "INVALID_DECLARATION", /make it with defineTool/],
    [{ tools: [defineTool(untyped({ ...tool, run: 5 }))] }, "INVALID_DECLARATION", /run must be a function/],
    [{ tools: [defineTool(untyped({ ...tool, bounds: 5 }))] }, "INVALID_DECLARATION", /bounds must be given/],
    [{ tools: lines }, "INVALID_INPUT", /`tools` must be a list/],
    [{ policies: "permit(principal, action, resource);" }, "INVALID_INPUT", /`policies` must be a list/],
    [{ policies: [{ name: "a.cedar", txt: "" }] }, "INVALID_INPUT", /did you mean text\?/],
    [{ approver: { door: "test", asks: () => true } }, "INVALID_INPUT", /`ask` must be a function/],
    [{ observer: {} }, "INVALID_INPUT", /`stage` must be a function/],
    [{ waitMs: "5" }, "INVALID_INPUT", /`waitMs` must be a number from 0 on/],
  ];
  for (const [options, code, message] of refused) {
    await assert.rejects(() => createKernel({ data, ...options }), { name: "KernelError", code, message });
  }
});

test("a call with an unknown option is rejected and runs nothing", async () => {
  const given: [unknown, string][] = [
    [{ dedupe_key: "k" }, "dedupe_key: is not known; did you mean dedupeKey?"],
    [{ timeout: 5 }, "timeout: is not known; did you mean timeoutMs?"],
    [{ requestId: 5 }, "requestId: must be text"],
    [{ signal: {} }, "signal: must be an AbortSignal"],
    [null, "options: a call takes an object of options"],
  ];
  for (const [options, message] of given) {
    const { status, raw, response } = await session.call("echo", 1, options as object);
    assert.ok(response.result.case === "error");
    const { errorCode, message: told } = response.result.value;
    assert.deepEqual([status, raw, errorCode, told], ["error", undefined, "INVALID_REQUEST", message]);
  }
});

test("an asynchronous or misspelt reply of a tool about its call is an error", async () => {
  const told: [string, RegExp][] = [
    ["late_facts", /what `late_facts` says about its arguments is no object/],
    ["late_spending", /the tool reserves what is no amount of a budget/],
    ["misspelt_spending", /the tool reserves what is no amount of a budget/],
  ];
  for (const [tool, message] of told) {
    const { result } = (await session.call(tool, 1)).response;
    assert.ok(result.case === "denied" || result.case === "error", `${tool}: ${result.case}`);
    assert.match(result.value.message, message);
  }
});

test("a streaming tool delivers through CallStream while it runs; chunks and result are the same redacted bytes", async () => {
  const chunks: Uint8Array[] = [];
  let inline: Uint8Array | undefined;
  for await (const { event } of client.callStream(request("lines", '{"count":1000}', "stream"))) {
    if (event.case === "chunk") chunks.push(event.value);
    if (event.case !== "response") continue;
    const { result } = event.value;
    inline = result.case === "success" ? result.value.inlineResult : assert.fail(result.case);
  }
  assert.ok(chunks.length > 10);
  const text = Buffer.concat(chunks).toString();
  assert.equal(text, Buffer.from(inline ?? []).toString());
  assert.ok(text.startsWith("line 0 [hidden]\nline 1 [hidden]\n"));
  assert.ok(!text.includes("hunter2"));
});

test("closing lets a running call finish and refuses new ones as unavailable", async () => {
  const running = client.call(request("slow", "1", "running"));
  await started.promise;
  const closing = kernel.close({ graceMs: 10_000 });
  const late = await session.call("slow", 1);
  assert.ok(late.response.result.case === "error");
  assert.equal(late.response.result.value.errorCode, "STORE_UNAVAILABLE");
  release.resolve();
  const { result } = await running;
  assert.ok(result.case === "success");
  await closing;
});

test("a closed kernel releases its home to the next, which finds everything", async () => {
  const next = await createKernel({ data: join(directory, "home"), tools, policies });
  const again = await next.callInProcess({
    token: session.token,
    tool: "lines",
    input: { count: 1000 },
    requestId: "stream",
  });
  assert.ok(again.response.result.case === "success" && again.response.result.value.repeatedAnswer);
  await next.close();
});

test("a new home with a hand-written configuration gets the default policy and the configured connections", async () => {
  const data = join(directory, "crowded");
  await mkdir(data, { mode: 0o700 });
  await writeFile(join(data, "narthex.yaml"), "limits: { max_connections: 1 }\n", { mode: 0o600 });
  const crowded = await createKernel({ data });
  const called = await (await crowded.session({ workspace })).call("echo", 1);
  assert.equal(called.status, "success", "a home with a configuration of its own gets the default policy all the same");
  const first = connect(crowded.sockets.services);
  await once(first, "connect");
  const second = connect(crowded.sockets.services);
  second.on("error", () => undefined);
  await once(second, "close");
  first.destroy();
  await crowded.close();
});
