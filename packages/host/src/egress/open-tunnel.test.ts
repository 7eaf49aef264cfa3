import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { after, describe, it } from "node:test";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import { serveDns } from "./testing/dns-server.ts";
import { serveRaw, serveTls } from "./testing/loopback-servers.ts";
import { hearAll, hearUntil, type OpenedProxy, openTestProxy } from "./testing/proxy-client.ts";
import { createTestAuthority } from "./testing/test-authority.ts";
import { createServerLookUp } from "./resolve-host.ts";

const authority = createTestAuthority();
const pair = authority.issue(["DNS:localhost", "DNS:named.test", "IP:127.0.0.1"]);
after(() => authority.remove());

const ESTABLISHED = "HTTP/1.1 200 Connection Established\r\n\r\n";
const aTurn = (): Promise<unknown> => new Promise(setImmediate);

/** A tunnel that was opened, and nothing said in it. */
async function openTo(proxy: OpenedProxy, authorityForm: string): Promise<Socket> {
  const socket = proxy.dial();
  socket.write(proxy.connectHead(authorityForm));
  assert.equal(await hearUntil(socket, "\r\n\r\n"), ESTABLISHED);
  return socket;
}

/** TLS in it, as a program would speak it. */
async function speakTls(socket: Socket, options: ConnectionOptions): Promise<TLSSocket> {
  const secure = connect({ socket, ca: authority.authority, ...options });
  await once(secure, "secureConnect");
  return secure;
}

const echo = (socket: Socket): void => void socket.pipe(socket);

async function refusalOf(proxy: OpenedProxy, authorityForm: string): Promise<string> {
  const socket = proxy.dial();
  socket.write(proxy.connectHead(authorityForm));
  const heard = await hearAll(socket);
  socket.destroy();
  return heard;
}

describe("a tunnel", () => {
  it("needs leave to send", async (t) => {
    const server = await serveTls(t, pair, echo);
    const proxy = await openTestProxy(t, { sends: false });
    assert.match(
      await refusalOf(proxy, `localhost:${server.port}`),
      /^HTTP\/1\.1 403 [^]*NETWORK_BLOCKED: host: may not send/,
    );
    assert.deepEqual(proxy.pass.asked, [{ host: "localhost", port: server.port, sends: true }]);
    assert.deepEqual(
      proxy.pass.events.map(({ method, refused }) => [method, refused]),
      [["CONNECT", "host"]],
    );
    assert.equal(server.connections(), 0);
  });

  it("is refused to addresses that were not granted, and to what is no host and port", async (t) => {
    const server = await serveRaw(t, () => undefined);
    const proxy = await openTestProxy(t, { granted: [] });
    const { port } = server;
    const reasons: Readonly<Record<string, string>> = {
      [`127.0.0.1:${port}`]: "loopback",
      [`localhost:${port}`]: "loopback",
      [`[::1]:${port}`]: "loopback",
      "10.0.0.1:443": "private",
      "169.254.169.254:80": "metadata",
      [`[64:ff9b::7f00:1]:${port}`]: "loopback",
      [`127.1:${port}`]: "host",
      [`2130706433:${port}`]: "host",
      [`0x7f000001:${port}`]: "host",
      [`localhost.:${port}`]: "host",
      [`[::ffff:127.0.0.1]:${port}`]: "host",
      [`[::ffff:7f00:1]:${port}`]: "host",
      "*:443": "host",
      "localhost:0": "host",
      "localhost:65536": "host",
      localhost: "host",
      "me@localhost:443": "host",
    };
    for (const [asked, reason] of Object.entries(reasons)) {
      const before = proxy.pass.events.length;
      assert.match(
        await refusalOf(proxy, asked),
        new RegExp(`^HTTP/1\\.1 403 [^]*NETWORK_BLOCKED: ${reason}: `),
        asked,
      );
      assert.deepEqual(
        proxy.pass.events.slice(before).map(({ refused }) => refused),
        [reason],
        asked,
      );
    }
    assert.equal(server.connections(), 0);
  });

  it("carries TLS from end to end, and its bytes are counted both ways", async (t) => {
    const server = await serveTls(t, pair, echo);
    const proxy = await openTestProxy(t);
    const secure = await speakTls(await openTo(proxy, `localhost:${server.port}`), { servername: "localhost" });
    const sent = "x".repeat(300_000);
    secure.end(sent);
    assert.equal(await hearAll(secure), sent);
    while (proxy.pass.events.length === 0) await aTurn();
    const [event, ...more] = proxy.pass.events;
    const { sentBytes = 0, receivedBytes = 0 } = event ?? {};
    assert.ok(sentBytes > 300_000 && sentBytes < 320_000 && receivedBytes > 300_000 && receivedBytes < 320_000);
    assert.deepEqual(
      [event?.host, event?.port, event?.method, event?.addressClass, event?.status, event?.refused, more],
      ["localhost", server.port, "CONNECT", "loopback", undefined, undefined, []],
    );
    assert.equal(
      proxy.pass.charges.reduce((sum, bytes) => sum + bytes, 0),
      sentBytes + receivedBytes,
    );
  });

  it("to an address needs no server name", async (t) => {
    const server = await serveTls(t, pair, echo);
    const proxy = await openTestProxy(t);
    const secure = await speakTls(await openTo(proxy, `127.0.0.1:${server.port}`), { host: "127.0.0.1" });
    secure.end("hello");
    assert.equal(await hearAll(secure), "hello");
  });

  it("takes a hello that comes byte by byte, and one that comes before it was asked for", async (t) => {
    const server = await serveTls(t, pair, echo);
    const proxy = await openTestProxy(t);
    const socket = await openTo(proxy, `localhost:${server.port}`);
    const { Duplex } = await import("node:stream");
    let first = true;
    const slow = new Duplex({
      read: () => void socket.resume(),
      write(chunk: Buffer, _, done) {
        const pieces = first ? [...chunk].map((byte) => Buffer.from([byte])) : [chunk];
        first = false;
        const next = (): void => {
          const piece = pieces.shift();
          if (piece === undefined) return done();
          socket.write(piece, () => setImmediate(next));
        };
        next();
      },
      final: (done) => void socket.end(done),
    });
    socket.on("data", (chunk: Buffer) => slow.push(chunk));
    socket.once("end", () => slow.push(null));
    const secure = connect({ socket: slow, ca: authority.authority, servername: "localhost" });
    await once(secure, "secureConnect");
    secure.end("slowly");
    assert.equal(await hearAll(secure), "slowly");

    const eager = proxy.dial();
    const early = connect({
      socket: eagerly(eager, proxy.connectHead(`localhost:${server.port}`)),
      ca: authority.authority,
      servername: "localhost",
    });
    await once(early, "secureConnect");
    early.end("early");
    assert.equal(await hearAll(early), "early");

    function eagerly(raw: Socket, head: string): InstanceType<typeof Duplex> {
      let unsaid = head;
      let skip = ESTABLISHED.length;
      const stream = new Duplex({
        read: () => undefined,
        write(chunk: Buffer, _, done) {
          raw.write(Buffer.concat([Buffer.from(unsaid), chunk]), () => done());
          unsaid = "";
        },
        final: (done) => void raw.end(done),
      });
      raw.on("data", (chunk: Buffer) => {
        const rest = chunk.subarray(skip);
        skip = Math.max(0, skip - chunk.length);
        if (rest.length > 0) stream.push(rest);
      });
      raw.once("end", () => stream.push(null));
      return stream;
    }
  });

  for (const [name, options] of Object.entries<ConnectionOptions>({
    "for another server": { servername: "other.test" },
    "for a server below it": { servername: "sub.localhost" },
    "for nobody": { host: "127.0.0.1" },
    "for it with a dot behind": { servername: "localhost." },
  })) {
    it(`with a hello ${name} is ended before the server hears of it`, async (t) => {
      let heard = 0;
      const server = await serveRaw(t, (socket) => void socket.on("data", (chunk: Buffer) => (heard += chunk.length)));
      const proxy = await openTestProxy(t);
      const socket = await openTo(proxy, `localhost:${server.port}`);
      const secure = connect({ socket, ...options });
      await once(secure, "error");
      while (proxy.pass.events.length === 0 || server.open() > 0) {
        socket.destroy();
        await aTurn();
      }
      assert.deepEqual(
        proxy.pass.events.map(({ refused, sentBytes }) => [refused, sentBytes]),
        [["server_name", 0]],
      );
      assert.equal(heard, 0);
    });
  }

  it("with a hello that has an encrypted one inside is ended before the server hears of it", async (t) => {
    let heard = 0;
    const server = await serveRaw(t, (socket) => void socket.on("data", (chunk: Buffer) => (heard += chunk.length)));
    const proxy = await openTestProxy(t);
    const socket = await openTo(proxy, `localhost:${server.port}`);
    // A hello for `localhost`, with the extension encrypted_client_hello behind its name.
    const extensions = Buffer.from("0000000e000c0000096c6f63616c686f7374fe0d0003000001", "hex");
    const rest = Buffer.concat([Buffer.from([0, extensions.length]), extensions]);
    const body = Buffer.concat([
      Buffer.from("0303", "hex"),
      Buffer.alloc(32),
      Buffer.from("00000213010100", "hex"),
      rest,
    ]);
    const handshake = Buffer.concat([Buffer.from([1, 0, 0, body.length]), body]);
    socket.write(Buffer.concat([Buffer.from([22, 3, 1, 0, handshake.length]), handshake]));
    while (proxy.pass.events.length === 0) await aTurn();
    assert.deepEqual(
      proxy.pass.events.map(({ refused, sentBytes }) => [refused, sentBytes]),
      [["server_name", 0]],
    );
    assert.equal(heard, 0);
  });

  it("that carries anything but TLS is ended before the server hears of it", async (t) => {
    let heard = 0;
    const server = await serveRaw(t, (socket) => void socket.on("data", (chunk: Buffer) => (heard += chunk.length)));
    const proxy = await openTestProxy(t);
    const giant = Buffer.concat([Buffer.from([22, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff]), Buffer.alloc(16_384)]);
    const said = [
      "GET / HTTP/1.1\r\nhost: evil.test\r\n\r\n",
      "SSH-2.0-OpenSSH\r\n",
      "PRI * HTTP/2.0\r\n\r\n",
      "\0",
      giant,
    ];
    for (const first of said) {
      const socket = await openTo(proxy, `localhost:${server.port}`);
      const ended = hearAll(socket);
      socket.resume();
      socket.write(first);
      await ended;
      socket.destroy();
    }
    while (proxy.pass.events.length < said.length) await aTurn();
    assert.deepEqual(new Set(proxy.pass.events.map(({ refused }) => refused)), new Set(["tunnel"]));
    assert.deepEqual([heard, proxy.pass.events.length], [0, said.length]);
  });

  it("in which nothing is said, or half a hello, is ended in time", async (t) => {
    const server = await serveRaw(t, () => undefined);
    const proxy = await openTestProxy(t, {}, { times: { connectMs: 200 } });
    const silent = await openTo(proxy, `localhost:${server.port}`);
    const half = await openTo(proxy, `localhost:${server.port}`);
    half.write(Buffer.from([22, 3, 1, 0, 200, 1]));
    await Promise.all([silent, half].map((socket) => hearAll(socket.resume())));
    assert.deepEqual(
      proxy.pass.events.map(({ refused }) => refused),
      ["tunnel", "tunnel"],
    );
  });

  it("that goes quiet is ended in time", async (t) => {
    const server = await serveTls(t, pair, echo);
    const proxy = await openTestProxy(t, {}, { times: { idleMs: 200 } });
    const secure = await speakTls(await openTo(proxy, `localhost:${server.port}`), { servername: "localhost" });
    await hearAll(secure);
    while (server.open() > 0) await aTurn();
    assert.deepEqual(
      proxy.pass.events.map(({ refused }) => refused),
      [undefined],
    );
  });

  it("survives a server that breaks off, at whatever point", async (t) => {
    const proxy = await openTestProxy(t);
    for (const speak of [
      (socket: Socket) => socket.destroy(),
      (socket: Socket) => socket.resetAndDestroy(),
      (socket: Socket) => void socket.once("data", () => socket.resetAndDestroy()),
    ]) {
      const server = await serveRaw(t, (socket) => void speak(socket));
      const socket = proxy.dial();
      const ended = hearAll(socket);
      socket.write(proxy.connectHead(`localhost:${server.port}`));
      socket.once("data", () => {
        const secure = connect({ socket, servername: "localhost" });
        secure.on("error", () => undefined);
      });
      await ended;
      socket.destroy();
    }
    while (proxy.pass.events.length < 3) await aTurn();
    assert.equal(proxy.pass.events.length, 3);
  });

  it("ends at the server when its program goes", async (t) => {
    const server = await serveTls(t, pair, () => undefined);
    const proxy = await openTestProxy(t);
    const secure = await speakTls(await openTo(proxy, `localhost:${server.port}`), { servername: "localhost" });
    secure.destroy();
    while (server.open() > 0 || proxy.pass.events.length === 0) await aTurn();
    const early = await openTo(proxy, `localhost:${server.port}`);
    early.destroy();
    while (server.open() > 0 || proxy.pass.events.length < 2) await aTurn();
  });

  it("ends when its server breaks off before anything was said in it", async (t) => {
    const sockets: Socket[] = [];
    const server = await serveRaw(t, (socket) => void sockets.push(socket));
    const proxy = await openTestProxy(t);
    const socket = await openTo(proxy, `localhost:${server.port}`);
    sockets[0]?.resetAndDestroy();
    await hearAll(socket.resume());
    assert.equal(proxy.pass.events.length, 1);
  });

  it("brings all that a server said before it ended, to a program that reads late", async (t) => {
    const server = await serveTls(t, pair, (socket) => {
      socket.once("data", (size: Buffer) => socket.end("x".repeat(Number(size.toString()))));
    });
    const proxy = await openTestProxy(t);
    // Somewhere here all that the system holds for the program is full, and the gate holds the rest.
    for (let size = 100_000; size <= 500_000; size += 40_000) {
      const secure = await speakTls(await openTo(proxy, `localhost:${server.port}`), { servername: "localhost" });
      secure.write(String(size));
      for (let i = 0; i < 100; i++) await aTurn();
      assert.equal((await hearAll(secure)).length, size);
    }
  });

  it("ends when more goes through it than the pass allows", async (t) => {
    const server = await serveTls(t, pair, (socket) => void socket.end("a".repeat(500_000)));
    const proxy = await openTestProxy(t, { bounds: { maxBytes: 100_000 } });
    const secure = await speakTls(await openTo(proxy, `localhost:${server.port}`), { servername: "localhost" });
    secure.on("error", () => undefined);
    assert.ok((await hearAll(secure)).length < 100_000);
    assert.equal(proxy.pass.events.length, 1);
  });

  it("leads where its name was judged to lead, and nowhere else", async (t) => {
    const server = await serveTls(t, pair, echo);
    const dns = await serveDns(t, ({ type, turn }) =>
      type === "A" ? [{ address: turn === 1 ? "127.0.0.1" : "10.0.0.1" }] : [],
    );
    const proxy = await openTestProxy(t, {}, { lookUp: createServerLookUp([dns.address]) });
    const secure = await speakTls(await openTo(proxy, `named.test:${server.port}`), { servername: "named.test" });
    secure.end("hello");
    assert.equal(await hearAll(secure), "hello");
    assert.equal(dns.queries.length, 2);
    assert.match(await refusalOf(proxy, `named.test:${server.port}`), /NETWORK_BLOCKED: private: /);
    assert.equal(server.connections(), 1);
  });
});
