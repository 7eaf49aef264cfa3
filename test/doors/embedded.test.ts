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
import { createKernel, defineTool } from "narthex";

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
const policies = [
  {
    name: "test.cedar",
    text: ["lines", "slow"].map((tool) => `permit(principal, action == Action::"${tool}", resource);`).join("\n"),
  },
];
const kernel = await createKernel({ data: join(directory, "home"), tools: [lines, slow], policies });
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

test("an option that nobody knows is refused, wherever it narrows something", async () => {
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

test("a streaming tool delivers through CallStream while it runs; chunks and result are the same bytes, redacted", async () => {
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

test("a kernel that was closed leaves its home to the next, which finds everything", async () => {
  const next = await createKernel({ data: join(directory, "home"), tools: [lines, slow], policies });
  const again = await next.callInProcess({
    token: session.token,
    tool: "lines",
    input: { count: 1000 },
    requestId: "stream",
  });
  assert.ok(again.response.result.case === "success" && again.response.result.value.repeatedAnswer);
  await next.close();
});

test("a policy that cannot be read denies every call, and the kernel starts to say so", async () => {
  const data = join(directory, "unreadable");
  await mkdir(join(data, "policy", "broken.cedar"), { recursive: true, mode: 0o700 });
  const denying = await createKernel({ data });
  const denied = await (await denying.session({ workspace })).call("echo", 1);
  assert.ok(denied.response.result.case === "denied");
  assert.equal(denied.response.result.value.rationaleCode, "POLICY_MISSING");
  assert.match(denied.response.result.value.message, /broken\.cedar.*is not a file/);
  await denying.close();
});

test("a new home with a hand-written configuration has the default policy and takes the configured connections", async () => {
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
