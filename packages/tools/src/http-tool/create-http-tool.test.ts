import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { isKernelError } from "@narthex/contracts";
import { checkDeclaration, definitionHash, type Tool, type ToolSession } from "@narthex/kernel";
import { type LoopbackServer, startLoopbackServer } from "@narthex/testkit";
import { openWebSession, type WebSession } from "../web/testing/web-session.ts";
import { createHttpTool, type HttpToolDeclaration } from "./create-http-tool.ts";
import type { HttpEndpoint } from "./http-endpoint.ts";

type Reply = readonly [status: number, body: string, headers?: Record<string, string>];

const SESSION: ToolSession = { id: "s", tenant: "t", workspace: "/w", workingDirectory: "/w" };
const WEATHER: HttpToolDeclaration = {
  name: "weather",
  version: "1.2.0",
  description: "Says what the weather is like.",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  outputSchema: { type: "object", properties: { celsius: { type: "number" } }, required: ["celsius"] },
  resultType: "object",
  determinism: "external",
  tier: "side_effecting",
  capabilities: [],
  bounds: { timeoutMs: 5000 },
  price: 1,
};

describe("an HTTP tool", () => {
  let server: LoopbackServer;
  let web: WebSession;
  let replies: Reply[] = [];
  before(async () => {
    server = await startLoopbackServer((_request, response) => {
      const [status, body, headers = {}] = replies.shift() ?? [200, '{"celsius": 21.5}'];
      if (status === 0) response.destroy();
      else response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
    });
    const tool = (name: string, endpoint: Omit<HttpEndpoint, "url">): Tool =>
      createHttpTool({ ...WEATHER, name }, { url: `${server.url}/tools/${name}?v=1`, ...endpoint });
    web = await openWebSession({
      tools: [
        tool("weather", { key: { secret: "weather_key" } }),
        tool("keyed", { key: { secret: "weather_key", header: "x-key", prefix: "" }, isIdempotent: true }),
      ],
      secrets: { weather_key: "s3cret-value" },
    });
  });
  beforeEach(() => {
    replies = [];
  });
  after(async () => {
    await web.close();
    await server.close();
  });

  const ask = (tool = "weather", requestId?: string) => web.call(tool, { city: "Oslo" }, requestId);
  /** How often the server was asked until this ended. */
  async function tries(tool: string, ...script: Reply[]): Promise<readonly [string, number]> {
    replies = [...script];
    const count = server.requests.length;
    const { code } = await ask(tool);
    return [code, server.requests.length - count];
  }

  it("is not made for an endpoint that cannot be asked", () => {
    for (const endpoint of [
      { url: "file:///etc/passwd" },
      { url: "https://user:pass@tools.test/" },
      { url: "https://*.tools.test/" },
      { url: "/tools" },
      { url: "https://tools.test/", key: { secret: "k", header: "Host" } },
      { url: "https://tools.test/", key: { secret: "k", header: "Idempotency-Key" } },
      { url: "https://tools.test/", key: { secret: "k", header: "x\r\ny" } },
      { url: "https://tools.test/", key: { secret: "k", prefix: "a\nb" } },
    ]) {
      assert.throws(
        () => createHttpTool(WEATHER, endpoint),
        (fault) => isKernelError(fault) && fault.code === "INVALID_DECLARATION",
        JSON.stringify(endpoint),
      );
    }
  });

  it("cannot be read_only, pure or deterministic: a POST sends", () => {
    const endpoint = { url: "https://tools.test/" };
    for (const claim of [{ tier: "read_only" }, { determinism: "pure" }, { determinism: "deterministic" }] as const) {
      assert.throws(() => checkDeclaration(createHttpTool({ ...WEATHER, ...claim }, endpoint)), JSON.stringify(claim));
    }
    checkDeclaration(createHttpTool(WEATHER, endpoint));
  });

  it("needs leave to send to its endpoint, and is another tool behind another endpoint", () => {
    const tool = createHttpTool(WEATHER, { url: "https://tools.test/a" });
    const right = { kind: "net_write", hosts: [{ host: "tools.test", ports: [443] }] };
    assert.deepEqual(tool.needs?.({ city: "Oslo" }, SESSION), [right]);
    assert.deepEqual([tool.capabilities, tool.effects, tool.isolation], [[right], ["net_write"], "http"]);
    const hashes = [
      { url: "https://tools.test/a" },
      { url: "https://tools.test/b" },
      { url: "https://evil.test/a" },
    ].map((endpoint) => Buffer.from(definitionHash(createHttpTool(WEATHER, endpoint))).toString("hex"));
    assert.equal(new Set(hashes).size, 3);
  });

  it("posts its input with request id, time left, idempotency key and its own key", async () => {
    const { value, labels } = await ask("weather", "r é/1");
    assert.deepEqual([value, labels], [{ celsius: 21.5 }, ["untrusted"]]);
    const { method, path, body, headers } = server.requests.at(-1) ?? assert.fail();
    assert.deepEqual([method, path, body], ["POST", "/tools/weather?v=1", '{"city":"Oslo"}']);
    assert.equal(headers["content-type"], "application/json");
    assert.equal(headers["narthex-request-id"], "r%20%C3%A9%2F1");
    assert.equal(headers.authorization, "Bearer s3cret-value");
    const left = Number(headers["narthex-deadline"]);
    assert.ok(left > 0 && left <= 5000, String(left));
    assert.match(String(headers["idempotency-key"]), /^[0-9a-f]{64}$/);
    await ask("keyed", "r é/2");
    const other = server.requests.at(-1)?.headers ?? {};
    assert.deepEqual([other["x-key"], other.authorization], ["s3cret-value", undefined]);
    assert.notEqual(other["idempotency-key"], headers["idempotency-key"]);
  });

  it("is held to its output schema, and to JSON", async () => {
    for (const [body, code] of [
      ["", "INVALID_OUTPUT"],
      ["<html>", "INVALID_OUTPUT"],
      ['{"celsius": 1} trailing', "INVALID_OUTPUT"],
      ['{"celsius": 1, "celsius": 2}', "INVALID_OUTPUT"],
      ['{"celsius": "warm"}', "INVALID_OUTPUT"],
      ["[]", "INVALID_OUTPUT"],
      [`${"[".repeat(10_000)}${"]".repeat(10_000)}`, "INVALID_OUTPUT"],
      [`{"celsius": 1, "more": "${"x".repeat(17_000_000)}"}`, "RESOURCE_EXCEEDED"],
    ] as const) {
      assert.deepEqual(await tries("weather", [200, body]), [code, 1], body.slice(0, 40));
    }
  });

  it("fails with the server's own words, or with its status", async () => {
    const words = JSON.stringify({ error: { code: "NO_CITY", message: "there is no\nsuch \u202ecity" } });
    replies = [[422, words]];
    const failed = await ask();
    assert.equal(failed.code, "EXECUTION_FAILED");
    assert.match(failed.message, /NO_CITY: there is no such city/);
    for (const [status, body, code] of [
      [404, "not here", "UPSTREAM_ERROR"],
      [400, '{"error": "text"}', "UPSTREAM_ERROR"],
      [500, words, "UPSTREAM_ERROR"],
      [429, words, "RATE_LIMITED"],
    ] as const) {
      assert.deepEqual(await tries("weather", [status, body]), [code, 1], String(status));
    }
  });

  it("follows no redirect", async () => {
    assert.deepEqual(await tries("weather", [307, "", { location: "/elsewhere" }]), ["UPSTREAM_ERROR", 1]);
  });

  it("is asked again only where the server said that nothing was done", async () => {
    for (const status of [425, 429, 503]) {
      assert.deepEqual(await tries("weather", [status, "", { "retry-after": "0" }]), ["", 2], String(status));
      assert.equal((await tries("weather", [status, ""]))[1], 1, String(status));
    }
    for (const status of [0, 500, 502, 504]) {
      assert.deepEqual(
        await tries("weather", [status, "", { "retry-after": "0" }]),
        ["UPSTREAM_ERROR", 1],
        String(status),
      );
    }
  });

  it("is asked again after any broken try where the server keeps to the key, which stays the same", async () => {
    for (const status of [0, 425, 502, 503, 504]) {
      const from = server.requests.length;
      assert.deepEqual(await tries("keyed", [status, ""]), ["", 2], String(status));
      const keys = server.requests.slice(from).map(({ headers }) => headers["idempotency-key"]);
      assert.equal(new Set(keys).size, 1, String(status));
    }
    assert.deepEqual(await tries("keyed", [500, ""]), ["UPSTREAM_ERROR", 1]);
  });

  it("is asked three times at most, and never past its time", async () => {
    const busy: Reply = [503, "", { "retry-after": "0" }];
    assert.deepEqual(await tries("weather", busy, busy, busy, busy), ["UPSTREAM_ERROR", 3]);
    assert.deepEqual(await tries("weather", [429, "", { "retry-after": "3600" }]), ["RATE_LIMITED", 1]);
  });
});
