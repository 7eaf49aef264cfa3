import assert from "node:assert/strict";
import { once } from "node:events";
import { access, writeFile } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import {
  create,
  encode,
  type JsonObject,
  KernelService,
  type ToolRequest,
  ToolRequestSchema,
} from "@narthex/contracts";
import { ended, objectOf, objectsOf, readLines, textOf } from "../cli/home.ts";
import { NAMES, type ServedMcp, serveMcp } from "./mcp/served-mcp.ts";

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
const CURRENT = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "shell_exec" };
const FRAMED_PREFACE = Buffer.from("NTX1");

describe("a client that vanishes while the kernel writes to it", { timeout: 300_000 }, () => {
  let served: ServedMcp;
  let kernelSaid = "";
  /** How calls ended so far, oldest first. */
  let recorded: string[] = [];
  before(async () => {
    served = await serveMcp();
    served.serving.child.stderr.on("data", (text: Buffer) => (kernelSaid += text.toString()));
  });
  after(async () => {
    assert.equal((await served.at.ask(["ledger", "verify"]))["intact"], true);
    assert.deepEqual((await served.at.ask(["journal"]))["intents"], []);
    await served.stop();
    assert.doesNotMatch(kernelSaid, /^\s+at |EPIPE|ECONNRESET|error/im);
  });

  const inWorkspace = (name: string): string => join(served.at.workspace, name);
  /** Prints until it is told to end. */
  const argumentsOf = (name: string) => ({
    command: `echo > ${name}-begun; while [ ! -e ${name}-end ]; do echo tick; sleep 0.01; done`,
    timeout_ms: 60_000,
  });
  const requestOf = (name: string): ToolRequest =>
    create(ToolRequestSchema, {
      requestId: name,
      sessionToken: served.session.token,
      tool: { case: "call", value: { name: "shell_exec", input: Buffer.from(JSON.stringify(argumentsOf(name))) } },
    });
  const hasBegun = (name: string) => until(() => access(inWorkspace(`${name}-begun`)).then(yes, no));
  const toKernel = (): Socket => connect(Number(served.url.port), served.url.hostname);

  async function post(path: string, body: string, options: { headers: Record<string, string>; socket?: Socket }) {
    const { socket = toKernel() } = options;
    const headers = { "content-type": "application/json", ...options.headers };
    const asked = request(new URL(path, served.url), { method: "POST", headers, createConnection: () => socket });
    asked.on("error", () => undefined);
    asked.end(body);
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    response.on("error", () => undefined);
    return response;
  }

  async function endings(): Promise<string[]> {
    const { records } = await served.at.ask(["ledger", "list", "--tool", "shell_exec", "--limit", "1000"]);
    return objectsOf(records).flatMap(({ entries }) => objectsOf(entries).flatMap(endOf));
  }

  /** The call has gone on, its end is on record, and the kernel takes the next one. */
  async function isRecorded(name: string, end: "ok" | "CANCELLED"): Promise<void> {
    await writeFile(inWorkspace(`${name}-end`), "");
    const expected = [...recorded, end];
    await until(async () => (recorded = await endings()).length === expected.length);
    assert.deepEqual(recorded, expected);
    const answer = await served.at.ask(["call", "echo", '"still here"', "--session", served.session.id]);
    assert.equal(answer["result"], "still here");
    assert.equal(served.serving.child.exitCode, null);
  }

  async function callOverMcp(name: string, socket: Socket, isCurrent: boolean): Promise<IncomingMessage> {
    const common = {
      authorization: `Bearer ${served.session.token}`,
      accept: "application/json, text/event-stream",
    };
    const _meta = { progressToken: 1, ...(isCurrent ? META : {}) };
    const call = { id: 1, method: "tools/call", params: { name: "shell_exec", arguments: argumentsOf(name), _meta } };
    const send = (message: object, headers: Record<string, string>, by?: Socket) =>
      post("/mcp", JSON.stringify({ jsonrpc: "2.0", ...message }), {
        headers: { ...common, ...headers },
        ...(by && { socket: by }),
      });
    if (isCurrent) return send(call, CURRENT, socket);
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    const opened = await send({ id: 0, method: "initialize", params }, {});
    opened.resume();
    return send(call, { "mcp-session-id": textOf(opened.headers["mcp-session-id"]) }, socket);
  }

  for (const [revision, end] of [
    ["legacy", "ok"],
    ["auto", "CANCELLED"],
  ] as const) {
    it(`over MCP and HTTP with progress, in the ${NAMES[revision]} revision`, async () => {
      const socket = toKernel();
      const response = await callOverMcp(revision, socket, revision === "auto");
      assert.match(String((await once(response, "data"))[0]), /notifications\/progress|^:/);
      await hasBegun(revision);
      socket.resetAndDestroy();
      await isRecorded(revision, end);
    });
  }

  it("over the session stream and a call stream of gRPC", async () => {
    const sockets: Socket[] = [];
    const createConnection = (): Socket => {
      const socket = toKernel();
      sockets.push(socket);
      return socket;
    };
    const transport = createGrpcTransport({ baseUrl: served.url.origin, nodeOptions: { createConnection } });
    const client = createClient(KernelService, transport);
    const leaving = Promise.withResolvers<void>();
    async function* requests() {
      yield requestOf("session");
      await leaving.promise;
    }
    const session = Array.fromAsync(client.session(requests()));
    session.catch(() => undefined);
    const stream = client.callStream(requestOf("stream"))[Symbol.asyncIterator]();
    assert.equal((await stream.next()).value?.event.case, "chunk");
    await hasBegun("session");
    for (const socket of sockets) socket.resetAndDestroy();
    leaving.resolve();
    await assert.rejects(session);
    await assert.rejects(readToEnd(stream));
    await isRecorded("session", "ok");
    await isRecorded("stream", "ok");
  });

  it("over the framed socket", async () => {
    const socket = connect(textOf(served.serving.ready["framed_socket"]));
    const body = encode(requestOf("framed"));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(body.length);
    socket.write(Buffer.concat([FRAMED_PREFACE, length, body]));
    await hasBegun("framed");
    socket.destroy();
    await isRecorded("framed", "ok");
  });

  it("at the console's live stream", async () => {
    const link = new URL(textOf((await served.at.ask(["console"]))["link"]));
    const headers = { origin: link.origin, "x-narthex-console": "none" };
    const body = JSON.stringify({ code: link.searchParams.get("code") ?? link.hash.slice(1), name: "ada" });
    const signedIn = await post("/console/api/sign-in", body, { headers });
    assert.equal(signedIn.statusCode, 200, link.href);
    const [cookie = ""] = String(signedIn.headers["set-cookie"]).split(";", 1);
    const { key } = JSON.parse(String(Buffer.concat(await Array.fromAsync(signedIn)))) as { readonly key: string };
    const socket = toKernel();
    const live = await post("/console/api/live", "{}", {
      headers: { ...headers, cookie, "x-narthex-console": key },
      socket,
    });
    assert.match(String((await once(live, "data"))[0]), /"kind":"hello"/);
    socket.resetAndDestroy();
    // The live stream would be sent an event for each of these.
    for (const text of ["one", "two"]) {
      await served.at.ask(["call", "echo", JSON.stringify(text), "--session", served.session.id]);
    }
    assert.equal(served.serving.child.exitCode, null);
  });

  it("of `watch` ends the command with 0 and no message", async () => {
    const watching = served.at.start(["watch", "--json"]);
    let said = "";
    watching.stderr.on("data", (text: Buffer) => (said += text.toString()));
    const ending = ended(watching);
    const client = await served.connect({ revision: "auto" });
    const callUntil = async (over: Promise<unknown>): Promise<void> => {
      let isOver = false;
      void over.then(() => (isOver = true));
      while (!isOver) await client.callTool({ name: "echo", arguments: {} });
    };
    await callUntil(readLines(watching)());
    watching.stdout.destroy();
    await callUntil(ending);
    assert.deepEqual([await ending, said], [0, ""]);
  });
});

/** Of an entry that ends a call. */
function endOf({ tool_completed: completed, tool_failed: failed }: JsonObject): string[] {
  if (completed !== undefined) return ["ok"];
  return failed === undefined ? [] : [textOf(objectOf(failed)["code"])];
}

const yes = (): boolean => true;
const no = (): boolean => false;

async function readToEnd(stream: AsyncIterator<unknown>): Promise<void> {
  while ((await stream.next()).done !== true);
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
}
