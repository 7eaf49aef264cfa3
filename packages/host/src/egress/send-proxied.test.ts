import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { after, describe, it, type TestContext } from "node:test";
import type { EgressCredential } from "@narthex/kernel";
import type { EgressSecrets } from "./egress-secrets.ts";
import { type CountingServer, serveHttp, serveTls } from "./testing/loopback-servers.ts";
import { type OpenedProxy, openTestProxy } from "./testing/proxy-client.ts";
import { createTestAuthority } from "./testing/test-authority.ts";
import type { TestPassOptions } from "./testing/test-pass.ts";

const authority = createTestAuthority();
const pair = authority.issue(["DNS:code.test", "DNS:other.test"]);
after(() => authority.remove());

const SECRETS: EgressSecrets = new Map([
  ["token", { value: "s3cr3t", hosts: [{ host: "code.test" }, { host: "127.0.0.1" }, { host: "plain.test" }] }],
]);
const CREDENTIALS: readonly EgressCredential[] = [
  { hosts: [{ host: "code.test" }], header: "Authorization", value: { secret: "token", basicUser: "x-token" } },
  { hosts: [{ host: "plain.test" }], header: "Authorization", value: { secret: "token" } },
  { hosts: [{ host: "other.test" }], header: "Authorization", value: { secret: "token" } },
];
const BASIC = `Basic ${Buffer.from("x-token:s3cr3t").toString("base64")}`;

async function open(
  t: TestContext,
  answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok",
  options: TestPassOptions = {},
): Promise<{ readonly server: CountingServer; readonly proxy: OpenedProxy; readonly heard: string[] }> {
  const heard: string[] = [];
  const server = await serveTls(t, pair, (socket: Socket) => {
    socket.on("data", (chunk: Buffer) => {
      heard.push(chunk.toString());
      socket.write(answer);
    });
  });
  const gate = { secrets: SECRETS, authorities: [authority.authority], lookUp: async () => ["127.0.0.1"] };
  return { server, heard, proxy: await openTestProxy(t, { credentials: CREDENTIALS, ...options }, gate) };
}

describe("what a program asks of the gate itself", () => {
  it("is asked by https, with the credential that the program never has", async (t) => {
    const { server, proxy, heard } = await open(t);
    const asked = `/${proxy.word}/https://code.test:${server.port}/r.git/info/refs?service=git-upload-pack`;
    const { status, body, headers } = await proxy.ask(asked, { credential: "" });
    assert.deepEqual([status, body], [200, "ok"]);
    assert.match(heard[0] ?? "", /^GET \/r\.git\/info\/refs\?service=git-upload-pack HTTP\/1\.1\r\n/);
    assert.ok(heard[0]?.includes(`Authorization: ${BASIC}\r\n`));
    assert.ok(!heard[0]?.includes(proxy.word), "the server does not learn the word");
    assert.doesNotMatch(JSON.stringify([headers, body, proxy.pass.events]), /s3cr3t|eC10b2tlb/);
    assert.deepEqual(proxy.pass.asked, [{ host: "code.test", port: server.port, sends: false }]);
  });

  it("has the credential in the place of whatever the program put there", async (t) => {
    const { server, proxy, heard } = await open(t);
    const headers = { authorization: "Bearer of-the-program" };
    await proxy.ask(`/${proxy.word}/https://code.test:${server.port}/`, { headers });
    assert.deepEqual(heard[0]?.match(/^authorization: .*$/gim), [`Authorization: ${BASIC}`]);
  });

  it("has no credential at a host that it is not for, and what the program put there stays", async (t) => {
    const { proxy } = await open(t);
    const server = await serveHttp(t, ({ headers }, response) => response.end(headers.authorization ?? "none"));
    const headers = { authorization: "Bearer mine" };
    assert.equal((await proxy.ask(`/${proxy.word}/${server.url}/`)).body, "none");
    assert.equal((await proxy.ask(`/${proxy.word}/${server.url}/`, { headers })).body, "Bearer mine");
  });

  it("is refused where the credential may not go: to another host, or in the clear", async (t) => {
    const { server, proxy, heard } = await open(t);
    const other = await proxy.ask(`/${proxy.word}/https://other.test:${server.port}/`);
    assert.deepEqual(
      [other.status, other.body],
      [403, "NETWORK_BLOCKED: secret: `token` may not be sent to `other.test`\n"],
    );
    for (const asked of [`/${proxy.word}/http://plain.test:${server.port}/`, `http://plain.test:${server.port}/`]) {
      const { status, body } = await proxy.ask(asked);
      assert.deepEqual([status, body], [403, "NETWORK_BLOCKED: secret: `token` is sent by https only\n"]);
    }
    assert.deepEqual([heard, proxy.pass.events.map(({ refused }) => refused)], [[], ["secret", "secret", "secret"]]);
    assert.equal(server.connections(), 0);
  });

  it("needs leave to send for what sends, as any request does", async (t) => {
    const { server, proxy, heard } = await open(t, undefined, { sends: false });
    const asked = `/${proxy.word}/https://code.test:${server.port}/r.git/git-receive-pack`;
    assert.equal((await proxy.ask(asked, { method: "POST", body: "0000" })).status, 403);
    assert.deepEqual(heard, []);
  });

  it("does not hear the credential from a server that quotes it: in headers, where it leads, or however it is cut", async (t) => {
    const basic = BASIC.slice("Basic ".length);
    const said = `you came with ${BASIC}, that is s3cr3t, or ${Buffer.from("a s3cr3t").toString("base64")}`;
    const head = `HTTP/1.1 302 Found\r\nx-came-with: ${BASIC}\r\nlocation: /s3cr3t/${basic}\r\ncontent-length: ${said.length}\r\n\r\n`;
    const heard: string[] = [];
    const server = await serveTls(t, pair, (socket: Socket) => {
      socket.on("data", (chunk: Buffer) => {
        heard.push(chunk.toString());
        const bytes = `${head}${said}`.split("");
        const next = (): void => {
          const byte = bytes.shift();
          if (byte === undefined || socket.destroyed) return;
          socket.write(byte);
          setImmediate(next);
        };
        next();
      });
    });
    const gate = { secrets: SECRETS, authorities: [authority.authority], lookUp: async () => ["127.0.0.1"] };
    const proxy = await openTestProxy(t, { credentials: CREDENTIALS }, gate);
    const asked = `/${proxy.word}/https://code.test:${server.port}/`;
    const answer = await proxy.ask(asked, { headers: { "accept-encoding": "gzip, zstd" } });
    assert.match(heard.join(""), /^accept-encoding: identity\r$/im);
    assert.doesNotMatch(heard.join(""), /zstd/);
    const text = JSON.stringify(answer);
    for (const form of ["s3cr3t", basic, "eC10b2tlbjpzM2NyM3", "czNjcjN0", "MzY3IzdA"])
      assert.ok(!text.includes(form), form);
    assert.equal(answer.body.length, said.length);
    assert.match(answer.body, /^you came with Basic [^]*that is \*{6}, or /);
    assert.match(String(answer.headers.location), /\/\*{6}\//);
  });

  it("gets no answer that is packed although it was shown a credential", async (t) => {
    const { server, proxy } = await open(t, "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\nok");
    const { status, body } = await proxy.ask(`/${proxy.word}/https://code.test:${server.port}/`);
    assert.deepEqual([status, body.slice(0, 39)], [502, "UPSTREAM_ERROR: the answer is packed, t"]);
  });

  it("is not sent as TRACE, whose answer is what was sent", async (t) => {
    const { server, proxy, heard } = await open(t);
    const { status, body } = await proxy.ask(`/${proxy.word}/https://code.test:${server.port}/`, { method: "TRACE" });
    assert.deepEqual([status, body, heard], [403, "NETWORK_BLOCKED: header: TRACE is not sent\n", []]);
    assert.equal(proxy.pass.events.length, 1);
  });

  it("is led on through the gate, wherever an answer leads", async (t) => {
    for (const [location, to] of [
      ["/elsewhere", (origin: string) => `${origin}/elsewhere`],
      ["https://other.test/a?b", () => "https://other.test/a?b"],
      ["http://127.0.0.2/", () => "http://127.0.0.2/"],
      ["file:///etc/passwd", () => "file:///etc/passwd"],
    ] as const) {
      const { server, proxy } = await open(
        t,
        `HTTP/1.1 302 Found\r\nLocation: ${location}\r\ncontent-length: 0\r\n\r\n`,
      );
      const origin = `https://code.test:${server.port}`;
      const { status, headers } = await proxy.ask(`/${proxy.word}/${origin}/a/b`);
      assert.deepEqual([status, headers.location], [302, `http://127.0.0.1:3128/${proxy.word}/${to(origin)}`]);
    }
  });

  it("is an error of the other side if an answer leads to what is no URL", async (t) => {
    const { server, proxy } = await open(t, "HTTP/1.1 302 Found\r\nlocation: http://[\r\ncontent-length: 0\r\n\r\n");
    const { status, body } = await proxy.ask(`/${proxy.word}/https://code.test:${server.port}/`);
    assert.deepEqual([status, body], [502, "UPSTREAM_ERROR: the answer leads to what is no URL\n"]);
    assert.equal(proxy.pass.events.length, 1);
  });
});
