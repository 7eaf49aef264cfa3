import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { after, describe, it, type TestContext } from "node:test";
import type { EgressSecrets } from "./egress-secrets.ts";
import { type CountingServer, serveHttp, serveTls } from "./testing/loopback-servers.ts";
import { createTestAuthority } from "./testing/test-authority.ts";
import { openTestExit, textOf } from "./testing/test-pass.ts";

const CODES = [301, 302, 303, 307, 308];
const SECRETS: EgressSecrets = new Map([["token", { value: "s3cr3t", hosts: [{ host: "*" }] }]]);

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** Leads whoever asks `/go/CODE` to a place, and keeps what it was asked. */
async function serveLeading(t: TestContext, location: () => string): Promise<CountingServer & { seen: Seen[] }> {
  const seen: Seen[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const { method = "", url: path = "", headers } = request;
    seen.push({ method, path, headers, body: Buffer.concat(chunks).toString() });
    const [, code] = /^\/go\/(\d+)/.exec(path) ?? [];
    if (code !== undefined) response.writeHead(Number(code), { location: location() });
    response.end(code === undefined ? "arrived" : "elsewhere");
  };
  const server = await serveHttp(t, (request, response) => void answer(request, response));
  return { ...server, seen };
}

describe("a redirect", () => {
  it("to an address that was not granted is refused, by every code, and nothing is dialled", async (t) => {
    const inside = await serveHttp(t, (_, response) => response.end("inside"), "127.0.0.2");
    const leading = await serveLeading(t, () => inside.url);
    const exit = openTestExit(t);
    for (const code of CODES) {
      await assert.rejects(exit.ask(`${leading.url}/go/${code}`), /^KernelError: loopback: /);
    }
    assert.equal(inside.connections(), 0);
    assert.deepEqual(
      exit.pass.events.map(({ host, status, refused }) => [host, status, refused]),
      CODES.flatMap((code) => [
        ["127.0.0.1", code, undefined],
        ["127.0.0.2", undefined, "loopback"],
      ]),
    );
  });

  it("to what is no http is refused, and the one that led there has ended", async (t) => {
    const places = ["file:///etc/passwd", "gopher://a.test/", "ftp://a.test/", "data:text/plain,x", "javascript:1"];
    let place = "";
    const leading = await serveLeading(t, () => place);
    const exit = openTestExit(t);
    for (place of places) await assert.rejects(exit.ask(`${leading.url}/go/302`), /^KernelError: scheme: /);
    assert.deepEqual(
      exit.pass.events.map(({ status, refused }) => [status, refused]),
      places.flatMap(() => [
        [302, undefined],
        [undefined, "scheme"],
      ]),
    );
  });

  it("to a host that the pass refuses is refused", async (t) => {
    const other = await serveHttp(t, (_, response) => response.end("other"));
    const leading = await serveLeading(t, () => `http://localhost:${other.port}/`);
    const exit = openTestExit(t, { hosts: ["127.0.0.1"] });
    await assert.rejects(exit.ask(`${leading.url}/go/307`, { method: "POST" }), { code: "NETWORK_BLOCKED" });
    assert.deepEqual(exit.pass.asked.at(-1), { host: "localhost", port: other.port, sends: true });
    assert.deepEqual([other.connections(), exit.pass.events.at(-1)?.refused], [0, "host"]);
  });

  it("with a name and password in it is refused, and they are not repeated", async (t) => {
    const leading = await serveLeading(t, () => "http://me:hunter2@localhost/");
    const exit = openTestExit(t);
    await assert.rejects(exit.ask(`${leading.url}/go/301`), /^KernelError: credentials: (?!.*hunter2)/);
    assert.doesNotMatch(JSON.stringify(exit.pass.events), /hunter2/);
  });

  it("to another origin takes no credential along, under whatever name, and brings none back", async (t) => {
    const back = await serveLeading(t, () => "/never");
    const home = await serveLeading(t, () => `http://localhost:${middle.port}/go/307`);
    const middle: CountingServer & { seen: Seen[] } = await serveLeading(t, () => `${home.url}/home`);
    const exit = openTestExit(t, {}, { secrets: SECRETS });
    const headers = [
      ["authorization", { secret: "token", prefix: "Bearer " }],
      ["x-api-key", { secret: "token" }],
      ["accept", { secret: "token" }],
      ["Cookie", "session=1"],
      ["PRIVATE-TOKEN", "mine"],
      ["x-odd", "1"],
      ["user-agent", "agent"],
      ["content-type", "text/x"],
    ] as const;
    const answer = await exit.ask(`${home.url}/go/307`, { method: "POST", headers, body: Buffer.from("all") });
    assert.equal(await textOf(answer.body), "arrived");
    assert.equal(home.seen[0]?.headers.authorization, "Bearer s3cr3t");
    for (const { method, headers: got, body } of [...middle.seen, ...home.seen.slice(1)]) {
      assert.deepEqual([method, body, got["user-agent"], got["content-type"]], ["POST", "all", "agent", "text/x"]);
      for (const name of ["authorization", "x-api-key", "cookie", "private-token", "x-odd"]) {
        assert.equal(got[name], undefined, name);
      }
      assert.doesNotMatch(JSON.stringify(got), /s3cr3t|session|mine/);
    }
    assert.deepEqual([home.seen.length, middle.seen.length, back.connections()], [2, 1, 0]);
  });

  it("to another port of the same host takes no credential along", async (t) => {
    const other = await serveLeading(t, () => "/");
    const leading = await serveLeading(t, () => other.url);
    const exit = openTestExit(t);
    await exit.ask(`${leading.url}/go/302`, { headers: [["authorization", "Bearer x"]] });
    assert.equal(other.seen[0]?.headers.authorization, undefined);
  });

  it("within an origin keeps the headers, and a relative one is taken from where it was said", async (t) => {
    const leading = await serveLeading(t, () => "../../../b/c?d=e#fragment");
    const exit = openTestExit(t, {}, { secrets: SECRETS });
    const answer = await exit.ask(`${leading.url}/go/302/a/x`, {
      headers: [
        ["authorization", { secret: "token" }],
        ["x-odd", "1"],
      ],
    });
    assert.deepEqual([answer.url, await textOf(answer.body)], [`${leading.url}/b/c?d=e`, "arrived"]);
    const { authorization, "x-odd": odd } = leading.seen.at(-1)?.headers ?? {};
    assert.deepEqual([authorization, odd], ["s3cr3t", "1"]);
  });

  it("that loops ends after ten hops", async (t) => {
    const leading = await serveLeading(t, () => "/go/302");
    const exit = openTestExit(t);
    await assert.rejects(exit.ask(`${leading.url}/go/302`), { message: "redirect: more than 10 hops" });
    assert.equal(leading.seen.length, 11);
    assert.deepEqual([exit.pass.events.length, exit.pass.events.at(-1)?.refused], [12, "redirect"]);
  });

  it("that says nowhere to go is an answer like any other", async (t) => {
    const server = await serveHttp(t, (request, response) => {
      response.writeHead(Number(request.url?.slice(1)));
      response.end("here");
    });
    const exit = openTestExit(t);
    for (const code of [300, ...CODES]) {
      const answer = await exit.ask(`${server.url}/${code}`);
      assert.deepEqual([answer.status, await textOf(answer.body)], [code, "here"]);
    }
  });

  it("is not followed when the caller asks for the redirect response", async (t) => {
    const leading = await serveLeading(t, () => "file:///etc/passwd");
    const exit = openTestExit(t);
    const answer = await exit.ask(`${leading.url}/go/302`, { redirect: "return" });
    assert.deepEqual([answer.status, await textOf(answer.body), exit.pass.events.length], [302, "elsewhere", 1]);
    assert.ok(answer.headers.some(([name, value]) => name === "location" && value === "file:///etc/passwd"));
  });

  it("makes another method of some, and leaves their bodies behind", async (t) => {
    const leading = await serveLeading(t, () => "/arrived");
    const exit = openTestExit(t);
    const after: Readonly<Record<number, Readonly<Record<string, string>>>> = {
      301: { POST: "GET", PUT: "PUT", HEAD: "HEAD", GET: "GET" },
      302: { POST: "GET", PUT: "PUT", HEAD: "HEAD", GET: "GET" },
      303: { POST: "GET", PUT: "GET", HEAD: "HEAD", DELETE: "GET" },
      307: { POST: "POST", PUT: "PUT", HEAD: "HEAD" },
      308: { POST: "POST", PUT: "PUT", DELETE: "DELETE" },
    };
    for (const [code, methods] of Object.entries(after)) {
      for (const [method, next] of Object.entries(methods)) {
        const body = method === "POST" || method === "PUT" ? Buffer.from("a body") : undefined;
        const headers = [["content-type", "text/x"]] as const;
        await exit.ask(`${leading.url}/go/${code}`, { method, headers, ...(body && { body }) });
        const last = leading.seen.at(-1);
        const isKept = next === method;
        assert.deepEqual(
          [last?.method, last?.body, last?.headers["content-type"]],
          [next, isKept && body ? "a body" : "", isKept ? "text/x" : undefined],
          `${code} ${method}`,
        );
        assert.equal(exit.pass.asked.at(-1)?.sends, next !== "GET" && next !== "HEAD");
      }
    }
  });
});

describe("a redirect by https", () => {
  const authority = createTestAuthority();
  const pair = authority.issue(["IP:127.0.0.1", "DNS:localhost"]);
  after(() => authority.remove());

  it("does not lead to http", async (t) => {
    const plain = await serveHttp(t, (_, response) => response.end("plain"));
    const answer = `HTTP/1.1 301 Moved\r\nlocation: ${plain.url}/\r\ncontent-length: 0\r\n\r\n`;
    const secure = await serveTls(t, pair, (socket) => socket.once("data", () => socket.write(answer)));
    const exit = openTestExit(t, {}, { authorities: [authority.authority] });
    await assert.rejects(exit.ask(`https://127.0.0.1:${secure.port}/`), {
      message: "redirect: from https to http, at `127.0.0.1`",
    });
    assert.deepEqual([plain.connections(), secure.connections(), exit.pass.events.length], [0, 1, 2]);
  });

  it("is where http may lead, without the credentials", async (t) => {
    let heard = "";
    const secure = await serveTls(t, pair, (socket) =>
      socket.once("data", (chunk: Buffer) => {
        heard = chunk.toString();
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
      }),
    );
    const plain = await serveHttp(t, (_, response) => {
      response.writeHead(301, { location: `https://127.0.0.1:${secure.port}/` }).end();
    });
    const exit = openTestExit(t, {}, { authorities: [authority.authority] });
    const answer = await exit.ask(plain.url, { headers: [["authorization", "Bearer x"]] });
    assert.equal(await textOf(answer.body), "ok");
    assert.doesNotMatch(heard, /authorization/i);
  });
});
