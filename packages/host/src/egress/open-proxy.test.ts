import assert from "node:assert/strict";
import { existsSync, readdirSync, statSync } from "node:fs";
import { Agent, type IncomingMessage } from "node:http";
import { dirname } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { type CountingServer, serveHttp, serveRaw } from "./testing/loopback-servers.ts";
import { hearAll, openTestProxy, proxyHeader } from "./testing/proxy-client.ts";

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

async function serveSeeing(t: TestContext): Promise<CountingServer & { readonly seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = await serveHttp(t, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      seen.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      response.setHeader("x-seen", "1");
      response.end("seen");
    });
  });
  return { ...server, seen };
}

const aTurn = (): Promise<unknown> => new Promise(setImmediate);

describe("authentication of proxy clients", () => {
  it("must say the call's own word", async (t) => {
    const server = await serveSeeing(t);
    const proxy = await openTestProxy(t);
    const other = await openTestProxy(t);
    const wrong = ["", "narthex:wrong", "narthex:", `${proxy.word}:narthex`, `other:${proxy.word}`, other.credential];
    for (const credential of [...wrong, `${proxy.credential}x`, proxy.credential.slice(0, -1)]) {
      const { status, headers } = await proxy.ask(server.url, { credential });
      assert.deepEqual([status, headers["proxy-authenticate"]], [407, "Basic"], credential);
    }
    for (const path of [`/${other.word}/${server.url}`, `/${proxy.word}`, `//${proxy.word}/${server.url}`]) {
      assert.equal((await proxy.ask(path, { credential: "" })).status, 407);
    }
    assert.deepEqual([server.seen, proxy.pass.asked, proxy.pass.events], [[], [], []]);
  });

  it("must say it for a tunnel and for an upgrade too", async (t) => {
    const server = await serveSeeing(t);
    const proxy = await openTestProxy(t);
    for (const line of [`CONNECT 127.0.0.1:${server.port}`, `GET ${server.url}/`]) {
      const socket = proxy.dial();
      const upgrade = line.startsWith("GET") ? "connection: upgrade\r\nupgrade: websocket\r\n" : "";
      socket.write(`${line} HTTP/1.1\r\nhost: x\r\n${upgrade}${proxyHeader("narthex:wrong")}\r\n\r\n`);
      assert.match(await hearAll(socket), /^HTTP\/1.1 407 /);
    }
    assert.deepEqual([server.connections(), proxy.pass.events], [0, []]);
  });

  it("finds it on a socket that is alone in a folder of its own", async (t) => {
    const proxy = await openTestProxy(t);
    const folder = dirname(proxy.socketPath);
    assert.deepEqual(readdirSync(folder), ["socket"]);
    assert.equal(statSync(folder).mode & 0o777, 0o711);
    assert.ok(proxy.word.length >= 32);
  });
});

describe("a plain request of a program", () => {
  it("is sent as it was asked, without what is between the program and the gate", async (t) => {
    const server = await serveSeeing(t);
    const proxy = await openTestProxy(t);
    const headers = {
      host: "other.test",
      connection: "x-named, close",
      "x-named": "1",
      "keep-alive": "1",
      te: "trailers",
      "proxy-connection": "keep-alive",
      "x-unix-socket": "/run/docker.sock",
      "x-kept": "2",
    };
    const { status, body, headers: answered } = await proxy.ask(`${server.url}/a?b=c`, { headers });
    assert.deepEqual([status, body, answered["x-seen"]], [200, "seen", "1"]);
    const [seen] = server.seen;
    assert.deepEqual([seen?.method, seen?.url], ["GET", "/a?b=c"]);
    assert.deepEqual(Object.keys(seen?.headers ?? {}).toSorted(), ["connection", "host", "x-kept"]);
    assert.equal(seen?.headers.host, `127.0.0.1:${server.port}`, "the URL says who is asked");
    const [event, ...more] = proxy.pass.events;
    assert.deepEqual(
      [event?.host, event?.port, event?.method, event?.status, event?.addressClass, event?.refused, more],
      ["127.0.0.1", server.port, "GET", 200, "loopback", undefined, []],
    );
  });

  it("is refused for hosts, addresses and schemes as any other is, with the reason", async (t) => {
    const server = await serveSeeing(t);
    const proxy = await openTestProxy(t, { hosts: ["127.0.0.1", "127.0.0.2", "localhost"] });
    for (const [target, reason] of [
      [`http://127.0.0.2:${server.port}/`, "loopback"],
      ["http://refused.test/", "host"],
      ["ftp://127.0.0.1/", "scheme"],
      ["file:///etc/passwd", "scheme"],
      [`http://me:pw@127.0.0.1:${server.port}/`, "credentials"],
      ["/", "host"],
      ["/etc/passwd", "host"],
      [`/${proxy.word}/`, "host"],
      [`/${proxy.word}/etc`, "host"],
      [`/${proxy.word}/file:///etc/passwd`, "scheme"],
      [`/${proxy.word}/http://refused.test/`, "host"],
    ] as const) {
      const before = proxy.pass.events.length;
      const { status, headers, body } = await proxy.ask(target);
      assert.deepEqual([status, headers["x-narthex"]], [403, body.trimEnd()], target);
      assert.ok(body.startsWith(`NETWORK_BLOCKED: ${reason}: `), body);
      const [event, ...more] = proxy.pass.events.slice(before);
      assert.deepEqual([event?.refused, more], [reason, []], target);
    }
    assert.equal(server.connections(), 0);
  });

  it("counts as sending unless it only reads, or only fetches by git", async (t) => {
    const server = await serveSeeing(t);
    const proxy = await openTestProxy(t, { sends: false });
    const git = { "content-type": "application/x-git-upload-pack-request" };
    for (const [path, asking, status] of [
      ["/", {}, 200],
      ["/", { method: "HEAD" }, 200],
      ["/", { body: "x", headers: { "content-length": "1" } }, 403],
      ["/", { body: "x", headers: { "transfer-encoding": "chunked" } }, 403],
      ["/", { method: "HEAD", body: "x", headers: { "content-length": "1" } }, 403],
      ["/", { method: "POST", body: "x" }, 403],
      ["/", { method: "OPTIONS" }, 403],
      ["/", { method: "DELETE" }, 403],
      ["/r.git/git-upload-pack", { method: "POST", headers: git, body: "0000" }, 200],
      ["/r.git/git-upload-pack", { method: "POST", body: "0000" }, 403],
      ["/r.git/git-receive-pack", { method: "POST", headers: git, body: "0000" }, 403],
      ["/api/delete?x=/git-upload-pack", { method: "POST", headers: git, body: "0000" }, 403],
      ["/api/delete#/git-upload-pack", { method: "POST", headers: git, body: "0000" }, 403],
      ["/r.git/git-upload-pack", { method: "PUT", headers: git, body: "0000" }, 403],
      ["/r.git/info/refs?service=git-upload-pack", {}, 200],
      ["/r.git/info/refs?service=git-receive-pack", {}, 403],
      ["/r.git/info/refs?service=git-receive-pack&x=1", {}, 403],
      ["/", { headers: { "x-http-method-override": "DELETE" } }, 403],
    ] as const) {
      const answer = await proxy.ask(`${server.url}${path}`, asking);
      assert.equal(answer.status, status, `${"method" in asking ? asking.method : "GET"} ${path}: ${answer.body}`);
    }
    assert.equal(server.seen.length, 4);
  });

  it("has its body counted, both ways, and sent whole", async (t) => {
    const server = await serveSeeing(t);
    const proxy = await openTestProxy(t);
    const body = "b".repeat(200_000);
    for (const headers of [{ "content-length": "200000" }, { "transfer-encoding": "chunked" }]) {
      await proxy.ask(server.url, { method: "POST", body, headers });
      assert.equal(server.seen.at(-1)?.body, body);
      const { sentBytes = 0, receivedBytes = 0 } = proxy.pass.events.at(-1) ?? {};
      assert.ok(sentBytes > 200_000 && sentBytes < 201_000 && receivedBytes > 4, `${sentBytes} ${receivedBytes}`);
    }
    const charged = proxy.pass.charges.reduce((sum, bytes) => sum + bytes, 0);
    assert.equal(
      charged,
      proxy.pass.events.reduce((sum, event) => sum + event.sentBytes + event.receivedBytes, 0),
    );
  });

  it("ends when it sends or gets more than the pass allows", async (t) => {
    const server = await serveSeeing(t);
    const sending = await openTestProxy(t, { bounds: { maxBytes: 50_000 } });
    const body = "b".repeat(400_000);
    const refused = await sending.ask(server.url, { method: "POST", body }).catch((fault: unknown) => fault);
    assert.ok(
      refused instanceof Error ||
        (typeof refused === "object" && refused !== null && "status" in refused && refused.status === 403),
    );
    assert.deepEqual([server.seen.length, sending.pass.events.length], [0, 1]);
    const large = await serveHttp(t, (_, response) => response.end("a".repeat(400_000)));
    const getting = await openTestProxy(t, { bounds: { maxBytes: 50_000 } });
    await assert.rejects(getting.ask(large.url));
    const requests = await openTestProxy(t, { bounds: { maxRequests: 1 } });
    const statuses = [await requests.ask(server.url), await requests.ask(server.url)].map(({ status }) => status);
    assert.deepEqual(statuses, [200, 403]);
  });

  it("gets its answer as it was packed, and what is between the gate and the server stays there", async (t) => {
    const packed = gzipSync("packed");
    const lines = ["content-encoding: gzip", "proxy-authenticate: Basic", "keep-alive: timeout=9", "connection: x-hop"];
    const head = `HTTP/1.1 200 OK\r\n${lines.join("\r\n")}\r\nx-hop: 1\r\nx-odd: \xe2\x82\xac\r\ncontent-length: ${packed.length}\r\n\r\n`;
    const server = await serveRaw(t, (socket) => {
      socket.once("data", () => {
        socket.write(head, "latin1");
        socket.write(packed);
      });
    });
    const proxy = await openTestProxy(t);
    const { headers, body } = await proxy.ask(server.url);
    assert.equal(Buffer.from(body, "latin1").compare(packed), 0);
    assert.deepEqual([headers["content-encoding"], headers["x-odd"]], ["gzip", "\xe2\x82\xac"]);
    assert.deepEqual(
      [headers["proxy-authenticate"], headers["x-hop"], headers["keep-alive"]?.includes("9")],
      [undefined, undefined, false],
    );
  });

  it("is not led anywhere by the gate", async (t) => {
    const server = await serveHttp(
      t,
      (_, response) => void response.writeHead(302, { location: "http://127.0.0.2/" }).end(),
    );
    const proxy = await openTestProxy(t);
    const { status, headers } = await proxy.ask(server.url);
    assert.deepEqual([status, headers.location, proxy.pass.events.length], [302, "http://127.0.0.2/", 1]);
  });

  it("gets the whole answer that comes before all of it was sent", async (t) => {
    const size = 2_000_000;
    const answer = `HTTP/1.1 413 Too Large\r\ncontent-length: ${size}\r\n\r\n${"b".repeat(size)}`;
    const server = await serveRaw(t, (socket) => void socket.once("data", () => socket.write(answer)).resume());
    const proxy = await openTestProxy(t);
    const socket = proxy.dial();
    const said = proxyHeader(proxy.credential);
    socket.write(`POST ${server.url}/ HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n${said}\r\n\r\nab`);
    let heard = 0;
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      heard += chunk.length;
      if (heard > size) break;
      socket.write("more of it");
      for (let i = 0; i < 20; i++) await aTurn();
    }
    assert.ok(heard > size, `only ${heard}`);
    assert.deepEqual(
      proxy.pass.events.map(({ status }) => status),
      [413],
    );
  });

  it("ends when its client disconnects", async (t) => {
    const server = await serveRaw(t, (socket) => void socket.resume());
    const proxy = await openTestProxy(t);
    const socket = proxy.dial();
    socket.write(`GET ${server.url}/ HTTP/1.1\r\nhost: x\r\n${proxyHeader(proxy.credential)}\r\n\r\n`);
    while (server.connections() === 0) await aTurn();
    socket.destroy();
    while (proxy.pass.events.length === 0 || server.open() > 0) await aTurn();
    assert.equal(proxy.pass.events.length, 1);
  });

  it("that cannot be answered is told why", async (t) => {
    const silent = await serveRaw(t, () => undefined);
    const broken = await serveRaw(t, (socket) => void socket.once("data", () => socket.end("no http\r\n\r\n")));
    const proxy = await openTestProxy(t, {}, { times: { headersMs: 300 } });
    const [late, bad] = await Promise.all([proxy.ask(silent.url), proxy.ask(broken.url)]);
    assert.deepEqual([late.status, late.body], [504, "TIMEOUT: `127.0.0.1` did not answer in time\n"]);
    assert.deepEqual([bad.status, bad.headers["x-narthex"]?.includes("UPSTREAM_ERROR")], [502, true]);
    assert.equal(proxy.pass.events.length, 2);
  });
});

describe("several requests on one connection", () => {
  it("are each asked about, and answered in their order", async (t) => {
    const server = await serveSeeing(t);
    const proxy = await openTestProxy(t, { hosts: ["127.0.0.1"] });
    const said = proxyHeader(proxy.credential);
    const socket = proxy.dial();
    const ask = (url: string, close = ""): string => `GET ${url} HTTP/1.1\r\nhost: x\r\n${said}\r\n${close}\r\n`;
    socket.write(ask(`${server.url}/1`) + ask(`${server.url}/2`) + ask("http://refused.test/"));
    const heard = await hearAll(socket);
    assert.deepEqual(heard.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 200", "HTTP/1.1 200", "HTTP/1.1 403"]);
    assert.deepEqual([server.seen.length, proxy.pass.events.length], [2, 3]);
  });

  it("must each say the word", async (t) => {
    const server = await serveSeeing(t);
    const proxy = await openTestProxy(t);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.after(() => agent.destroy());
    assert.equal((await proxy.ask(server.url, { agent })).status, 200);
    assert.equal((await proxy.ask(server.url, { agent, credential: "" })).status, 407);
    assert.equal(server.seen.length, 1);
  });

  it("are not made of one by saying its length in two ways", async (t) => {
    const server = await serveSeeing(t);
    const proxy = await openTestProxy(t);
    const said = proxyHeader(proxy.credential);
    const inner = `GET ${server.url}/smuggled HTTP/1.1\r\nhost: x\r\n\r\n`;
    for (const framing of [
      `content-length: ${inner.length + 5}\r\ntransfer-encoding: chunked`,
      "content-length: 5\r\ncontent-length: 6",
      "transfer-encoding: chunked\r\ntransfer-encoding: identity",
      "transfer-encoding: xchunked",
      "transfer-encoding : chunked",
      "content-length: +5",
      "content-length: 5,5",
    ]) {
      const socket = proxy.dial();
      socket.write(`POST ${server.url}/outer HTTP/1.1\r\nhost: x\r\n${said}\r\n${framing}\r\n\r\n0\r\n\r\n${inner}`);
      assert.match(await hearAll(socket), /^HTTP\/1\.1 400 /, framing);
      socket.destroy();
    }
    assert.deepEqual(server.seen, []);
    for (const { status, method } of proxy.pass.events) assert.deepEqual([status, method], [undefined, "POST"]);
  });

  it("do not become something else: an upgrade is refused", async (t) => {
    const server = await serveSeeing(t);
    const proxy = await openTestProxy(t);
    const said = proxyHeader(proxy.credential);
    for (const protocol of ["websocket", "h2c", "TLS/1.2"]) {
      const socket = proxy.dial();
      socket.write(
        `GET ${server.url}/ HTTP/1.1\r\nhost: x\r\n${said}\r\nconnection: upgrade\r\nupgrade: ${protocol}\r\n\r\nmore`,
      );
      assert.match(await hearAll(socket), /^HTTP\/1\.1 403 [^]*NETWORK_BLOCKED: header: /);
    }
    assert.equal(server.connections(), 0);
    assert.deepEqual(
      proxy.pass.events.map(({ refused, host }) => [refused, host]),
      Array.from({ length: 3 }, () => ["header", "127.0.0.1"]),
    );
  });
});

describe("a proxy that is closed", () => {
  it("has told of all by then, ends every connection, and its socket is gone", async (t) => {
    const server = await serveRaw(t, (socket) => void socket.resume());
    const proxy = await openTestProxy(t);
    const waiting = assert.rejects(proxy.ask(server.url));
    const tunnel = proxy.dial();
    tunnel.write(proxy.connectHead(`127.0.0.1:${server.port}`));
    const idle = proxy.dial();
    const refused = proxy.dial();
    refused.write("CONNECT 127.0.0.1:1 HTTP/1.1\r\nhost: x\r\n\r\n");
    const ended = [tunnel, idle, refused].map((socket) => hearAll(socket));
    while (server.connections() < 2) await aTurn();
    const closed = proxy.close();
    assert.equal(proxy.pass.events.length, 2, "at once");
    await closed;
    await waiting;
    await Promise.all(ended);
    for (const socket of [tunnel, idle, refused]) {
      // Whoever still writes finds nobody there.
      while (!socket.destroyed) {
        socket.write("x");
        await aTurn();
      }
    }
    while (server.open() > 0) await aTurn();
    assert.ok(!existsSync(proxy.socketPath) && !existsSync(dirname(proxy.socketPath)));
    assert.deepEqual(readdirSync(proxy.folder), []);
    await proxy.close();
    assert.equal(proxy.pass.events.length, 2);
    await proxy.closeGate();
    assert.ok(!existsSync(proxy.folder));
  });
});
