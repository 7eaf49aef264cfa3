import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { type IncomingMessage, request as sendRequest } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import type { JsonObject, JsonValue } from "@narthex/contracts";
import { cancelSleeping, fieldOf, NAMES, REVISIONS, type ServedMcp, serveMcp, textIn } from "./mcp/served-mcp.ts";

describe("MCP over HTTP, as served by `serve`", { timeout: 240_000 }, () => {
  let served: ServedMcp;
  before(async () => {
    served = await serveMcp();
  });
  after(() => served.stop());

  const initialize = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
  };

  /** One request as anybody could send it; header by header. */
  async function send(headers: Record<string, string>, body: JsonValue | string = initialize, method = "POST") {
    const request = sendRequest(served.url, {
      method,
      headers: {
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        authorization: `Bearer ${served.session.token}`,
        ...headers,
      },
    });
    request.end(method === "POST" ? (typeof body === "string" ? body : JSON.stringify(body)) : undefined);
    const [response] = (await once(request, "response")) as [IncomingMessage];
    return response;
  }

  const statusOf = async (...args: Parameters<typeof send>): Promise<number | undefined> => {
    const response = await send(...args);
    response.destroy();
    return response.statusCode;
  };

  it("accepts session tokens only, and says so to clients without one", async () => {
    const adminToken = (await readFile(join(served.at.home, "run/admin.token"), "utf8")).trim();
    for (const authorization of [
      "",
      "Bearer",
      "Bearer nonsense",
      `Bearer ${adminToken}`,
      `Basic ${served.session.token}`,
    ]) {
      const answer = await send({ authorization });
      assert.equal(answer.statusCode, 401, authorization.slice(0, 8));
      assert.match(answer.headers["www-authenticate"] ?? "", /^Bearer/);
      answer.destroy();
    }
  });

  it("rejects web pages and rebound host names", async () => {
    assert.equal(await statusOf({ origin: "https://evil.example" }), 403);
    assert.equal(await statusOf({ origin: "null" }), 403);
    assert.equal(await statusOf({ host: "evil.example" }), 403);
    assert.equal(await statusOf({ host: `evil.example:${served.url.port}` }), 403);
    const answer = await send({ origin: "https://evil.example" }, initialize, "OPTIONS");
    assert.equal(answer.headers["access-control-allow-origin"], undefined);
    answer.destroy();
  });

  it("accepts one strict message in one body of limited size", async () => {
    assert.equal(await statusOf({ "content-type": "text/plain" }), 415);
    assert.equal(await statusOf({}, `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`), 400);
    assert.equal(await statusOf({}, [initialize]), 400);
    assert.equal(await statusOf({}, "{"), 400);
    assert.equal(await statusOf({ "content-length": String(20 * 1024 * 1024) }), 413);
    assert.equal(await statusOf({}, initialize, "PUT"), 405);
  });

  it("keeps a connection of the previous revision for its session, until it is ended", async () => {
    const opened = await send({});
    const id = String(opened.headers["mcp-session-id"]);
    opened.destroy();
    assert.match(id, /^[\x21-\x7e]+$/);
    const ping = { jsonrpc: "2.0", id: 2, method: "ping" };
    const other = await served.at.openSession();
    assert.equal(await statusOf({ "mcp-session-id": id, authorization: `Bearer ${other.token}` }, ping), 404);
    assert.equal(await statusOf({ "mcp-session-id": "nonsense" }, ping), 404);
    assert.equal(await statusOf({}, ping), 400);
    assert.equal(await statusOf({ "mcp-session-id": id }, ping), 200);
    assert.equal(await statusOf({ "mcp-session-id": id }, initialize, "DELETE"), 200);
    assert.equal(await statusOf({ "mcp-session-id": id }, ping), 404);
  });

  it("keeps the response of a call whose stream broke, for its client to fetch", async () => {
    const opened = await send({});
    const connection = {
      "mcp-session-id": String(opened.headers["mcp-session-id"]),
      "mcp-protocol-version": "2025-11-25",
    };
    opened.destroy();
    const command = "until [ -e broken ]; do sleep 0.05; done; echo survived";
    const params = { name: "shell_exec", arguments: { command } };
    const calling = await send(connection, { jsonrpc: "2.0", id: 7, method: "tools/call", params });
    const [first] = (await once(calling, "data")) as [Buffer];
    const [, id = ""] = /^id: (\S+)$/m.exec(first.toString()) ?? assert.fail(first.toString());
    calling.destroy();
    await writeFile(join(served.at.workspace, "broken"), "");
    const resumed = await send({ ...connection, "last-event-id": id }, initialize, "GET");
    let read = "";
    for await (const chunk of resumed) {
      read += String(chunk);
      if (read.includes("survived")) break;
    }
    assert.match(read, /"id":7/);
  });

  it("ends with its session", async () => {
    const { id, token } = await served.at.openSession();
    const opened = await send({ authorization: `Bearer ${token}` });
    const connection = String(opened.headers["mcp-session-id"]);
    opened.destroy();
    await served.at.ask(["session", "close", id]);
    const ping = { jsonrpc: "2.0", id: 2, method: "ping" };
    const answer = await send({ authorization: `Bearer ${token}`, "mcp-session-id": connection }, ping);
    assert.equal(answer.statusCode, 401);
    assert.match(JSON.stringify(await json(answer)), /SESSION_CLOSED/);
  });

  for (const revision of REVISIONS) {
    describe(`in the ${NAMES[revision]} revision`, () => {
      it("lists only the tools that lease and policy could permit, with hints and schemas", async () => {
        const client = await served.connect({ revision });
        const { tools } = await client.listTools();
        assert.deepEqual(tools.map(({ name }) => name).sort(), [
          "file_delete",
          "file_move",
          "file_read",
          "file_write",
          "result_read",
          "shell_exec",
        ]);
        const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]));
        assert.deepEqual(hints["file_read"], { readOnlyHint: true, openWorldHint: false });
        assert.deepEqual(hints["file_delete"], { openWorldHint: false });
        assert.ok(tools.every(({ inputSchema }) => inputSchema.type === "object"));
      });

      it("lists only the tools that the lease covers", async () => {
        const lease = join(served.at.root, `lease-${revision}.json`);
        await writeFile(lease, JSON.stringify({ tool_patterns: ["file_*"], highest_tier: "read_only" }));
        const { token } = await served.at.openSession("--lease", lease);
        const client = await served.connect({ revision, token });
        assert.deepEqual(
          (await client.listTools()).tools.map(({ name }) => name),
          ["file_read"],
        );
      });

      it("returns structured output where declared, and a denial that says what would be allowed", async () => {
        const client = await served.connect({ revision });
        const answer = await client.callTool({ name: "echo", arguments: { a: [1, "grüße"] } });
        assert.equal(textIn(answer.content), `{"a":[1,"grüße"]}`);
        const forbidden = await client.callTool({ name: "file_write", arguments: { path: "never", content: "" } });
        assert.equal(forbidden.isError, true);
        assert.match(textIn(forbidden.content), /^Denied by rule not-that-file \(POLICY_DENIED\)/);
        const unmatched = await client.callTool({ name: "hash", arguments: { data: "x" } });
        assert.match(
          textIn(unmatched.content),
          /^Denied \(NO_MATCHING_RULE\).*\nRule small-hashes would allow it if this held: .*"small".*\nNext: /s,
        );
        const wrong = await client.callTool({ name: "file_read", arguments: { pth: 1 } });
        assert.equal(wrong.isError, true);
        assert.match(textIn(wrong.content), /^INVALID_INPUT: .*path.*\nExpected arguments: /s);
      });

      it("reports output while a command runs, and cancelling kills the command", async () => {
        const client = await served.connect({ revision });
        const heard = await cancelSleeping(client, revision === "auto" ? "86399.25" : "86399.75");
        assert.deepEqual(heard, ["begun\n"]);
        const { records } = await served.at.ask(["ledger", "list", "--limit", "20"]);
        assert.match(JSON.stringify(records), /CANCELLED/);
      });

      it("returns large output as a resource, page by page and to its own session only", async () => {
        const line = "grüße, zeile für zeile\n";
        const text = line.repeat(30_000);
        await writeFile(join(served.at.workspace, "large"), text);
        const client = await served.connect({ revision });
        const { content } = await client.callTool({ name: "file_read", arguments: { path: "large" } });
        const link = (content as JsonObject[]).find(({ type }) => type === "resource_link");
        const uri = String(link?.["uri"]);
        assert.match(uri, /^narthex:\/\/content\/[0-9a-f]{64}$/);
        const { resources } = await client.listResources();
        assert.ok(resources.some((resource) => resource.uri === uri));
        assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 1);
        let read = "";
        for (let next: JsonValue | undefined = uri; typeof next === "string"; ) {
          const [page] = (await client.readResource({ uri: next })).contents as unknown as JsonObject[];
          read += String(page?.["text"]);
          next = fieldOf(page?.["_meta"], "next");
        }
        assert.equal(read, text);
        const other = await served.connect({ revision, token: (await served.at.openSession()).token });
        await assert.rejects(other.readResource({ uri }), /CONTENT_NOT_FOUND/);
        await assert.rejects(client.readResource({ uri: `${uri}?offset=-1` }), /no resource has this address/);
        await assert.rejects(client.readResource({ uri: "file:///etc/passwd" }), /no resource has this address/);
      });
    });
  }

  it("leaves a ledger that verifies and names the door", async () => {
    const report = await served.at.ask(["ledger", "verify"]);
    assert.equal(report["intact"], true);
    const listed = JSON.stringify(await served.at.ask(["ledger", "list", "--limit", "500"]));
    assert.ok(listed.includes(`"door":"mcp"`));
  });
});
