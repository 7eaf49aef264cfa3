import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import type { ToolContext, ToolSession } from "@narthex/kernel";
import { type LoopbackServer, startLoopbackServer } from "@narthex/testkit";
import { resultRead } from "../content/index.ts";
import { httpFetch } from "./http-fetch.ts";
import { openWebSession, type WebSession } from "./testing/web-session.ts";

const BIG = Buffer.alloc(3 * 1024 * 1024, "0123456789");
const SESSION: ToolSession = { id: "s", tenant: "t", workspace: "/w", workingDirectory: "/w" };

describe("http_fetch", () => {
  let server: LoopbackServer;
  let web: WebSession;
  before(async () => {
    server = await startLoopbackServer(({ path, method }, response) => {
      response.setHeader("set-cookie", ["a=1", "b=2"]);
      if (path === "/moved") response.writeHead(302, { location: "/here?q=1" }).end();
      else if (path === "/missing") response.writeHead(404).end("no such page");
      else if (path === "/bytes") response.end(Buffer.from([0xff, 0xfe, 0, 1]));
      else if (path === "/nul") response.end("text\0with");
      else if (path === "/big") response.end(BIG);
      else if (path === "/broken") {
        response.writeHead(200, { "content-length": "1000" });
        response.write("a few", () => response.destroy());
      } else response.end(method === "HEAD" ? undefined : `${method} é`);
    });
    web = await openWebSession({ tools: [httpFetch, resultRead] });
  });
  after(async () => {
    await web.close();
    await server.close();
  });

  const get = (path: string, more: JsonObject = {}) => web.call("http_fetch", { url: `${server.url}${path}`, ...more });

  it("sends nothing for what is no request", async () => {
    const count = server.requests.length;
    const wrong: readonly [JsonObject, string][] = [
      [{ url: "file:///etc/passwd" }, "url"],
      [{ url: `http://user:pass@127.0.0.1:${server.port}/` }, "url"],
      [{ url: "http://*/" }, "url"],
      [{ headers: ["Host: evil.org"] }, "headers[0]"],
      [{ headers: ["x: a\r\nHost: evil.org"] }, "headers[0]"],
      [{ headers: ["x-unix-socket: /run/docker.sock"] }, "headers[0]"],
      [{ body: "x" }, "body"],
      [{ method: "HEAD", body: "" }, "body"],
      [{ method: "CONNECT" }, "method"],
      [{ method: "TRACE" }, "method"],
      [{ method: "get" }, "method"],
      [{ method: "GET / HTTP/1.1\r\nX: y" }, "method"],
      [{ headers: Array.from({ length: 101 }, () => "x: y") }, "headers"],
      [{ socket: "/run/docker.sock" }, "socket"],
    ];
    for (const [more, field] of wrong) {
      const { code, fields } = await get("/", more);
      assert.deepEqual([code, fields], ["INVALID_INPUT", [field]], JSON.stringify(more));
    }
    assert.equal(server.requests.length, count);
  });

  it("reads with GET and HEAD, and needs leave to send for every other method", async () => {
    const capabilities = [{ kind: "net_read", hosts: [{ host: "127.0.0.1", ports: [server.port] }] }] as const;
    const reader = await openWebSession({ tools: [httpFetch], capabilities });
    for (const method of ["GET", "HEAD"]) {
      const { code } = await reader.call("http_fetch", { url: server.url, method });
      assert.equal(code, "", method);
    }
    const count = server.requests.length;
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      const { code } = await reader.call("http_fetch", { url: server.url, method });
      assert.equal(code, "CAPABILITY_MISSING", method);
    }
    for (const url of [`http://127.0.0.1:${server.port + 1}/`, `http://localhost:${server.port}/`]) {
      assert.equal((await reader.call("http_fetch", { url })).code, "CAPABILITY_MISSING", url);
    }
    assert.equal(server.requests.length, count);
    await reader.close();
  });

  it("requires exactly this host and port, to read or to send, and a session approval covers just that", () => {
    for (const [method, kind] of [
      [undefined, "net_read"],
      ["HEAD", "net_read"],
      ["OPTIONS", "net_write"],
      ["DELETE", "net_write"],
    ] as const) {
      const input = { url: "https://[::1]:8443/x?y#z", ...(method && { method }) };
      assert.deepEqual(httpFetch.needs?.(input, SESSION), [{ kind, hosts: [{ host: "::1", ports: [8443] }] }]);
      assert.deepEqual(httpFetch.narrow?.(input), { effects: [kind] });
      assert.deepEqual(httpFetch.approvalScope?.(input, SESSION), {
        kind: "host",
        host: "::1",
        port: 8443,
        sends: kind === "net_write",
      });
    }
    assert.deepEqual(httpFetch.derived?.of({ url: "https://a.test/b/../c?d" }), {
      url: { scheme: "https", path: "/c" },
    });
  });

  it("answers status, headers with duplicates, body and final URL, labelled untrusted", async () => {
    const { value, labels } = await get("/moved", { headers: ["x-a: 1", "x-a: 2", "accept: text/plain"] });
    assert.deepEqual(
      [value["status"], value["body"], value["size"], value["final_url"]],
      [200, "GET é", 6, `${server.url}/here?q=1`],
    );
    const cookies = (value["headers"] as string[][]).filter(([name]) => name === "set-cookie");
    assert.deepEqual(cookies, [
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2"],
    ]);
    assert.deepEqual(labels, ["untrusted"]);
    const { headers } = server.requests.at(-1) ?? assert.fail();
    assert.deepEqual([headers["x-a"], headers["accept"]], ["1, 2", "text/plain"]);
  });

  it("sends what it was given", async () => {
    const { value } = await get("/", { method: "PUT", body: "grüße", headers: ["Content-Type: text/plain"] });
    assert.equal(value["body"], "PUT é");
    const { method, body, headers } = server.requests.at(-1) ?? assert.fail();
    assert.deepEqual([method, body, headers["content-type"]], ["PUT", "grüße", "text/plain"]);
  });

  it("takes any status as a result", async () => {
    const { code, value } = await get("/missing");
    assert.deepEqual([code, value["status"], value["body"]], ["", 404, "no such page"]);
  });

  it("has no body of a HEAD", async () => {
    const { value } = await get("/", { method: "HEAD" });
    assert.deepEqual([value["status"], value["size"], value["body"]], [200, 0, ""]);
  });

  it("keeps what is no text, or too long, as content that the session can read", async () => {
    for (const [path, bytes] of [
      ["/bytes", Buffer.from([0xff, 0xfe, 0, 1])],
      ["/nul", Buffer.from("text\0with")],
      ["/big", BIG],
    ] as const) {
      const { value } = await get(path);
      assert.deepEqual([value["size"], value["body"]], [bytes.length, undefined], path);
      const hash = String(value["body_hash"]);
      const offset = Math.max(0, bytes.length - 1000);
      const { raw, metadata } = await web.session.call("result_read", { hash, offset });
      assert.deepEqual(Buffer.from(raw as Uint8Array), bytes.subarray(offset), path);
      assert.ok(metadata.labels.includes("untrusted"), path);
    }
  });

  it("fails where the answer breaks off", async () => {
    assert.equal((await get("/broken")).code, "UPSTREAM_ERROR");
  });

  it("hands a secret on by its name", async () => {
    let sent: unknown;
    const context = {
      network: {
        request: (request: unknown) => {
          sent = request;
          return Promise.reject(new Error("far enough"));
        },
      },
    } as unknown as ToolContext;
    const headers = [{ name: "Authorization", value: { $secret: "github" }, prefix: "Bearer " }];
    await assert.rejects(async () => httpFetch.run({ url: "https://api.test/", headers }, context), /far enough/);
    assert.deepEqual((sent as { headers: unknown }).headers, [
      ["Authorization", { secret: "github", prefix: "Bearer " }],
    ]);
  });
});
