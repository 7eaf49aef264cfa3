import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, beforeEach, describe, it } from "node:test";
import { type JsonObject, toHex } from "@narthex/contracts";
import { findTools, storeTool } from "@narthex/host";
import { createTestHome, objectOf, objectsOf, type TestHome } from "../cli/home.ts";
import {
  createNetworkKernel,
  type NetworkKernel,
  type NetworkSession,
  startServer,
  type TestServer,
} from "./network-kernel.ts";

const SECRET = "s3cret-of-the-weather/+";
const INPUT = { city: "Oslo" };

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

const json =
  (body: string, status = 200, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);

/** Writes for ever, as fast as it is read. */
const endless: Answer = (response) => {
  const piece = Buffer.alloc(64 * 1024, " ");
  const more = (): void => {
    while (!response.destroyed && response.write(piece));
  };
  response.on("drain", more);
  more();
};

describe("HTTP tools", { timeout: 240_000 }, () => {
  let home: TestHome;
  let at: NetworkKernel;
  let session: NetworkSession;
  let server: TestServer;
  let elsewhere: TestServer;
  let added: JsonObject;
  let answers: Answer[] = [];
  const bodies: string[] = [];
  const used = new AsyncDisposableStack();
  const logged: string[] = [];

  const manifest = (name: string, change: JsonObject = {}, endpoint: JsonObject = {}): JsonObject => ({
    name,
    version: "1.0.0",
    description: "Says how warm it is.",
    endpoint: { url: `http://${server.place}/tools/${name}`, ...endpoint },
    input_schema: { type: "object", required: ["city"], properties: { city: { type: "string" } } },
    output_schema: { type: "object", required: ["celsius"], properties: { celsius: { type: "number" } } },
    determinism: "external",
    tier: "side_effecting",
    bounds: { timeout_ms: 10_000, max_network_bytes: 300_000 },
    ...change,
  });

  async function write(description: JsonObject): Promise<string> {
    const folder = join(home.root, "tools", String(description["name"]));
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "tool.json"), JSON.stringify(description));
    return join(folder, "tool.json");
  }

  async function store(description: JsonObject): Promise<void> {
    const { tools } = await findTools(await write(description));
    for (const tool of tools) await storeTool(join(home.home, "tools"), tool, { replace: false });
  }

  before(async () => {
    server = used.use(
      await startServer((request, response) => {
        void text(request).then((body) => {
          bodies.push(body);
          const answer = answers.shift() ?? json('{"celsius": 21.5}');
          answer(response, request);
        });
      }),
    );
    elsewhere = used.use(await startServer((_request, response) => void response.end('{"celsius": 1}')));
    home = await createTestHome();
    used.defer(() => home.remove());
    await mkdir(home.home, { mode: 0o700 });
    await writeFile(
      join(home.home, "narthex.yaml"),
      `secrets: { weather_key: { env: TEST_WEATHER_KEY }, other_key: { env: TEST_WEATHER_KEY } }
network: { secrets: { weather_key: ["${server.place}"], other_key: ["tools.test"] } }
`,
    );
    const weather = manifest("weather", {}, { secret: "weather_key" });
    added = await home.ask(["tools", "add", await write(weather), "--allow"]);
    await store(manifest("keyed", {}, { secret: "weather_key", header: "x-key", prefix: "", idempotent: true }));
    await store(manifest("named", {}, { url: `http://localhost:${server.port}/tools/named` }));
    await store(manifest("hasty", { bounds: { timeout_ms: 300 } }));
    await store(manifest("keyless", {}, { secret: "other_key" }));
    await store(manifest("unknown_key", {}, { secret: "nobody_has_it" }));
    at = used.use(
      await createNetworkKernel({
        data: home.home,
        log: (_level, message, fields) => logged.push(`${message} ${JSON.stringify(fields)}`),
      }),
    );
    session = await at.open({ sends: [server.place, `localhost:${server.port}`] });
  });
  beforeEach(() => {
    answers = [];
  });
  after(() => used.disposeAsync());

  /** What the call ended with, and how often the server was asked. */
  async function ending(tool: string, ...script: Answer[]): Promise<readonly [string, number]> {
    answers = [...script];
    const count = server.requests.length;
    const { result } = (await session.session.call(tool, INPUT)).response;
    const code = result.case === "error" ? result.value.errorCode : (result.case ?? "");
    return [code, server.requests.length - count];
  }

  it("are rejected by the command with effects of their own, or with an unusable endpoint", async () => {
    const effects = await home.ask(["tools", "add", await write(manifest("bad", { effects: [] }))], 1);
    assert.match(JSON.stringify(effects["error"]), /follows from the endpoint/);
    const file = await write(manifest("bad", {}, { url: "file:///etc/passwd" }));
    const scheme = objectOf((await home.ask(["tools", "add", file], 1))["error"]);
    assert.equal(scheme["code"], "INVALID_DECLARATION");
    assert.match(String(scheme["message"]), /must begin with http/);
  });

  it("are added by the command, with their endpoint as part of the definition hash", async () => {
    const [tool = {}] = objectsOf(added["tools"]);
    assert.deepEqual(
      [tool["source"], tool["endpoint"], tool["effects"], tool["secrets"], tool["files"]],
      ["http", `http://${server.place}/tools/weather`, ["net_write"], { authorization: "weather_key" }, []],
    );
    const found = at.kernel.listTools({ allVersions: false }).find(({ declaration }) => declaration.name === "weather");
    assert.equal(found && toHex(found.definitionHash), tool["definition_hash"]);
    const [other] = (await findTools(await write(manifest("weather", {}, { url: "https://evil.test/" })))).tools;
    assert.ok(other);
    await assert.rejects(storeTool(join(home.home, "tools"), other, { replace: false }), /is another one/);
  });

  it("get their input by POST, with request id, remaining time, idempotency key and secret", async () => {
    const answer = await session.session.call("weather", INPUT, { requestId: "r é/1" });
    assert.deepEqual([answer.raw, answer.metadata.labels], [{ celsius: 21.5 }, ["untrusted"]]);
    const { line, headers } = server.requests.at(-1) ?? assert.fail();
    assert.deepEqual([line, bodies.at(-1)], ["POST /tools/weather", '{"city":"Oslo"}']);
    assert.equal(headers["narthex-request-id"], "r%20%C3%A9%2F1");
    const left = Number(headers["narthex-deadline"]);
    assert.ok(left > 0 && left <= 10_000, String(left));
    assert.match(String(headers["idempotency-key"]), /^[0-9a-f]{64}$/);
    assert.equal(headers.authorization, `Bearer ${SECRET}`);
    assert.deepEqual((await session.egress()).at(-1), `POST ${server.place} loopback 200`);
    await session.ask("keyed", INPUT);
    const other = server.requests.at(-1)?.headers ?? {};
    assert.deepEqual([other["x-key"], other.authorization], [SECRET, undefined]);
  });

  it("do not expose their secret, even if the server repeats it", async () => {
    answers = [(response, request) => response.end(JSON.stringify({ celsius: 1, ...request.headers }))];
    const answer = JSON.stringify(await session.ask("weather", INPUT));
    assert.doesNotMatch(answer, /s3cret/);
    assert.match(answer, /\[secret weather_key\]/);
  });

  it("are retried only where nothing can happen twice", async () => {
    assert.deepEqual(await ending("weather", json("", 503, { "retry-after": "0" })), ["success", 2]);
    assert.deepEqual(await ending("weather", json("", 503)), ["UPSTREAM_ERROR", 1]);
    assert.deepEqual(await ending("weather", (response) => void response.destroy()), ["UPSTREAM_ERROR", 1]);
    assert.deepEqual(await ending("weather", json("", 429, { "retry-after": "3600" })), ["RATE_LIMITED", 1]);
    const from = server.requests.length;
    assert.deepEqual(await ending("keyed", (response) => void response.destroy(), json("", 502)), ["success", 3]);
    const keys = server.requests.slice(from).map(({ headers }) => headers["idempotency-key"]);
    assert.equal(new Set(keys).size, 1);
  });

  it("must fit their declaration", async () => {
    const wrong: readonly (readonly [string, Answer])[] = [
      ["INVALID_OUTPUT", json("<html>")],
      ["INVALID_OUTPUT", json("")],
      ["INVALID_OUTPUT", json('{"celsius": 1, "celsius": 2}')],
      ["INVALID_OUTPUT", json('{"celsius": "warm"}')],
      ["UPSTREAM_ERROR", json("", 500)],
      ["EXECUTION_FAILED", json('{"error": {"code": "NO_CITY", "message": "there is none"}}', 404)],
      ["RESOURCE_EXCEEDED", endless],
    ];
    for (const [code, answer] of wrong) assert.deepEqual(await ending("weather", answer), [code, 1], code);
  });

  it("end at their time-out, whether the server is silent or endless", async () => {
    assert.deepEqual(await ending("hasty", () => undefined), ["TIMEOUT", 1]);
    assert.deepEqual(await ending("hasty", (response) => void response.write('{"cel')), ["TIMEOUT", 1]);
  });

  it("follow no redirect", async () => {
    const away = json("", 307, { location: `http://${elsewhere.place}/` });
    assert.deepEqual(await ending("weather", away), ["UPSTREAM_ERROR", 1]);
    assert.equal(elsewhere.requests.length, 0);
  });

  it("are not called for a session whose lease lacks their host or port", async () => {
    const count = server.requests.length;
    for (const sends of [[], ["tools.test"], [`127.0.0.1:${server.port + 1}`]]) {
      const { code } = await (await at.open({ sends })).refused("weather", INPUT);
      assert.equal(code, "CAPABILITY_MISSING", sends.join());
    }
    const reader = await at.open({ reads: [server.place] });
    assert.equal((await reader.refused("weather", INPUT)).code, "CAPABILITY_MISSING");
    assert.equal(server.requests.length, count);
  });

  it("reach a local address only if it is their own endpoint", async () => {
    const anywhere = await at.open({ sends: ["*"], reads: ["*"] });
    await anywhere.ask("weather", INPUT);
    const count = server.requests.length;
    const fetched = await anywhere.refused("http_fetch", { url: `http://${server.place}/` });
    assert.deepEqual([fetched.code, /loopback/.test(fetched.message)], ["NETWORK_BLOCKED", true], fetched.message);
    // A name is none, whatever it stands for.
    const named = await anywhere.refused("named", INPUT);
    assert.deepEqual([named.code, /loopback/.test(named.message)], ["NETWORK_BLOCKED", true], named.message);
    assert.equal(server.requests.length, count);
  });

  it("fail with the reason, and send nothing, if their secret is not allowed there", async () => {
    const count = server.requests.length;
    for (const [tool, secret] of [
      ["keyless", "other_key"],
      ["unknown_key", "nobody_has_it"],
    ] as const) {
      const { code, message } = await session.refused(tool, INPUT);
      assert.equal(code, "EXECUTION_FAILED");
      assert.match(message, new RegExp(`\`${secret}\` may not be sent to \`127.0.0.1\`: .*network.secrets`));
      assert.ok(logged.some((line) => line.startsWith("a secret cannot be sent") && line.includes(tool)));
    }
    assert.equal(server.requests.length, count);
  });
});

process.env["TEST_WEATHER_KEY"] = SECRET;
