import assert from "node:assert/strict";
import { after, test } from "node:test";
import { create, KernelService, ToolRequestSchema, toHex } from "@narthex/contracts";
import { connectFramed } from "@narthex/server/framed-client";
import { createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createTestHome } from "../cli/home.ts";

const INPUT = { greeting: "grüße", list: [1, 2, 3] };
const home = await createTestHome();
const serving = await home.serve();
const session = await home.openSession();
const baseUrl = String(serving.ready["listen"]);

after(async () => {
  assert.equal(await serving.stop(), 0);
  await home.remove();
});

function request(requestId: string) {
  const input = Buffer.from(JSON.stringify(INPUT));
  return create(ToolRequestSchema, {
    requestId,
    sessionToken: session.token,
    tool: { case: "call", value: { name: "echo", input } },
  });
}

/** The same call through each door; every one answers with the same hash. */
const doors: Record<string, () => Promise<string>> = {
  "the command line": async () => {
    const answer = await home.ask(["call", "echo", JSON.stringify(INPUT), "--session", session.id]);
    assert.deepEqual(answer["result"], INPUT);
    return String(answer["result_hash"]);
  },
  "the framed socket": async () => {
    const client = await connectFramed(String(serving.ready["framed_socket"]));
    const { result } = await client.call(request("framed"));
    await client.close();
    return result.case === "success" ? toHex(result.value.resultHash) : assert.fail(result.case);
  },
  gRPC: () => unary(createGrpcTransport({ baseUrl }), "grpc"),
  "gRPC-Web": () => unary(createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }), "grpc-web"),
  "Connect over HTTP/1.1": () => unary(createConnectTransport({ baseUrl, httpVersion: "1.1" }), "connect-1"),
  "Connect over HTTP/2": () => unary(createConnectTransport({ baseUrl, httpVersion: "2" }), "connect-2"),
  "plain HTTP and JSON": async () => {
    const answer = await fetch(`${baseUrl}/narthex.v1.KernelService/Call`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        requestId: "json",
        sessionToken: session.token,
        call: { name: "echo", input: Buffer.from(JSON.stringify(INPUT)).toString("base64") },
      }),
    });
    const { success } = (await answer.json()) as { success: { resultHash: string } };
    return Buffer.from(success.resultHash, "base64").toString("hex");
  },
  "the Session stream": async () => {
    const client = createClient(KernelService, createGrpcTransport({ baseUrl }));
    const answers = client.session(
      (async function* () {
        yield request("stream-1");
        yield request("stream-2");
      })(),
    );
    const hashes = new Map<string, string>();
    for await (const { requestId, result } of answers) {
      hashes.set(requestId, result.case === "success" ? toHex(result.value.resultHash) : assert.fail(result.case));
    }
    assert.deepEqual([...hashes.keys()].sort(), ["stream-1", "stream-2"]);
    return hashes.get("stream-1") ?? "";
  },
  CallStream: async () => {
    const client = createClient(KernelService, createGrpcTransport({ baseUrl }));
    for await (const { event } of client.callStream(request("call-stream"))) {
      if (event.case !== "response") continue;
      const { result } = event.value;
      return result.case === "success" ? toHex(result.value.resultHash) : assert.fail(result.case);
    }
    return assert.fail("no response");
  },
};

async function unary(transport: Transport, requestId: string): Promise<string> {
  const { result } = await createClient(KernelService, transport).call(request(requestId));
  return result.case === "success" ? toHex(result.value.resultHash) : assert.fail(result.case);
}

test("one call through every door has one result", async (t) => {
  const hashes = new Set<string>();
  for (const [name, call] of Object.entries(doors)) await t.test(name, async () => void hashes.add(await call()));
  assert.equal(hashes.size, 1);
});

test("an MCP client lists the tools and calls one", async () => {
  const client = new Client({ name: "test", version: "1.0.0" });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [home.program, "mcp", "--workspace", home.workspace],
    env: { HOME: home.root, NARTHEX_DATA: home.home, PATH: process.env["PATH"] ?? "" },
  });
  await client.connect(transport);
  const { tools } = await client.listTools();
  assert.ok(tools.some((tool) => tool.name === "file_read"));
  const answer = await client.callTool({ name: "echo", arguments: INPUT });
  assert.deepEqual(answer.content, [{ type: "text", text: JSON.stringify(INPUT) }]);
  const wrong = await client.callTool({ name: "hash", arguments: { dat: 1 } });
  assert.equal(wrong.isError, true);
  await client.close();
});

test("afterwards the ledger verifies and names every door", async () => {
  const report = await home.ask(["ledger", "verify"]);
  assert.equal(report["intact"], true);
  const listed = await home.ask(["ledger", "list", "--limit", "200"]);
  const text = JSON.stringify(listed);
  for (const door of ["framed", "grpc", "connect"]) assert.ok(text.includes(`"door":"${door}`), door);
});
