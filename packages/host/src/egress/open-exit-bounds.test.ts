import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it } from "node:test";
import { KernelError } from "@narthex/contracts";
import { serveHttp, serveRaw } from "./testing/loopback-servers.ts";
import { openTestExit, sizeOf, textOf } from "./testing/test-pass.ts";

/** A connection that has served its answer is free one turn later. */
const aTurn = (): Promise<unknown> => new Promise(setImmediate);

describe("the bounds of a pass", () => {
  it("count requests, refused ones too, and tell of the first one past them only", async (t) => {
    const server = await serveHttp(t, (_, response) => response.end("ok"));
    const exit = openTestExit(t, { hosts: ["127.0.0.1"], bounds: { maxRequests: 3 } });
    await assert.rejects(exit.ask("http://refused.test/"), { code: "NETWORK_BLOCKED" });
    await assert.rejects(exit.ask("file:///"), { code: "NETWORK_BLOCKED" });
    assert.equal(await textOf((await exit.ask(server.url)).body), "ok");
    for (let i = 0; i < 5; i++) {
      await assert.rejects(exit.ask(server.url), {
        code: "RESOURCE_EXCEEDED",
        message: "network requests: at most 3, and it came to more",
      });
      await assert.rejects(exit.ask("file:///"), { code: "NETWORK_BLOCKED" });
    }
    assert.deepEqual(
      exit.pass.events.map(({ refused }) => refused),
      ["host", "scheme", undefined, "resource_exceeded"],
    );
    assert.equal(server.connections(), 1);
  });

  it("record the code of a refusal, whichever component refused", async (t) => {
    const admit = (): void => {
      throw new KernelError("UNDECLARED_EFFECT", "nothing was declared");
    };
    const exit = openTestExit(t, { admit });
    await assert.rejects(exit.ask("http://a.test/"), { code: "UNDECLARED_EFFECT" });
    assert.deepEqual(exit.pass.events, [
      {
        host: "a.test",
        port: 80,
        method: "GET",
        addressClass: undefined,
        sentBytes: 0,
        receivedBytes: 0,
        status: undefined,
        refused: "undeclared_effect",
        mayHaveEffect: false,
      },
    ]);
  });

  it("count the hops of a redirect", async (t) => {
    const server = await serveHttp(t, (_, response) => void response.writeHead(302, { location: "/" }).end());
    const exit = openTestExit(t, { bounds: { maxRequests: 3 } });
    await assert.rejects(exit.ask(server.url), { code: "RESOURCE_EXCEEDED" });
    assert.equal(exit.pass.events.length, 4);
  });

  it("end a body at the last byte that fits, and hand on nothing past it", async (t) => {
    const server = await serveHttp(t, (_, response) => response.end("a".repeat(100_000)));
    const exit = openTestExit(t, { bounds: { maxBytes: 50_000 } });
    const got = await exit.ask(server.url);
    let size = 0;
    const reading = async (): Promise<void> => {
      for await (const chunk of got.body) size += chunk.length;
    };
    await assert.rejects(reading(), { code: "RESOURCE_EXCEEDED" });
    assert.ok(size <= 50_000, String(size));
    assert.equal(exit.pass.events.length, 1);
    await assert.rejects(exit.ask(server.url), { code: "RESOURCE_EXCEEDED" });
    assert.equal(exit.pass.events[1]?.refused, "resource_exceeded");
  });

  it("hold for what is sent, before any of it leaves", async (t) => {
    const server = await serveHttp(t, (_, response) => response.end("ok"));
    const exit = openTestExit(t, { bounds: { maxBytes: 5000 } });
    await assert.rejects(exit.ask(server.url, { method: "POST", body: Buffer.alloc(6000) }), {
      code: "RESOURCE_EXCEEDED",
    });
    assert.equal(server.connections(), 0);
  });

  it("and the budget see the same bytes as the event", async (t) => {
    const server = await serveHttp(t, (request, response) => {
      request.resume().on("end", () => response.end("a".repeat(70_000)));
    });
    const exit = openTestExit(t);
    await textOf((await exit.ask(`${server.url}/path`, { method: "POST", body: Buffer.alloc(12_345) })).body);
    const [event, ...more] = exit.pass.events;
    assert.ok(event !== undefined && event.sentBytes > 12_345 && event.sentBytes < 13_000);
    assert.ok(event.receivedBytes > 70_000 && event.receivedBytes < 71_000);
    assert.equal(
      exit.pass.charges.reduce((sum, bytes) => sum + bytes, 0),
      event.sentBytes + event.receivedBytes,
    );
    assert.deepEqual(
      { ...event, sentBytes: 0, receivedBytes: 0 },
      {
        host: "127.0.0.1",
        port: server.port,
        method: "POST",
        addressClass: "loopback",
        sentBytes: 0,
        receivedBytes: 0,
        status: 200,
        refused: undefined,
        mayHaveEffect: true,
      },
    );
    assert.deepEqual(more, []);
  });

  it("stop a request when the budget has nothing left, at whatever point", async (t) => {
    const server = await serveHttp(t, (_, response) => response.end("a".repeat(1000)));
    for (const fits of [0, 1, 2]) {
      let charged = 0;
      const charge = (): void => {
        charged += 1;
        if (charged > fits) throw new KernelError("RESOURCE_EXCEEDED", "network bytes: nothing left");
      };
      const exit = openTestExit(t, { charge });
      await assert.rejects(async () => sizeOf((await exit.ask(server.url)).body), {
        message: "network bytes: nothing left",
      });
      assert.equal(exit.pass.events.length, 1);
    }
  });
});

describe("connections", () => {
  it("are kept within an exit and not shared with another", async (t) => {
    const server = await serveHttp(t, (_, response) => response.end("ok"));
    const first = openTestExit(t);
    for (let i = 0; i < 5; i++) {
      await textOf((await first.ask(server.url)).body);
      await aTurn();
    }
    assert.equal(server.connections(), 1);
    await textOf((await openTestExit(t).ask(server.url)).body);
    assert.equal(server.connections(), 2);
  });

  it("do not reuse a connection that sent an unsolicited response", async (t) => {
    const one = (text: string): string => `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
    const server = await serveRaw(
      t,
      (socket) => void socket.on("data", () => socket.write(one("mine") + one("planted"))),
    );
    const exit = openTestExit(t);
    for (let i = 0; i < 3; i++) {
      assert.equal(await textOf((await exit.ask(server.url)).body), "mine");
      await aTurn();
    }
    assert.equal(server.connections(), 3);
  });

  it("are many at once, without a warning", async (t) => {
    const warnings: Error[] = [];
    const warned = (warning: Error): void => void warnings.push(warning);
    process.on("warning", warned);
    t.after(() => process.off("warning", warned));
    const server = await serveHttp(t, (_, response) => response.end("ok"));
    const exit = openTestExit(t);
    const texts = await Promise.all(Array.from({ length: 60 }, async () => textOf((await exit.ask(server.url)).body)));
    assert.deepEqual([new Set(texts), exit.pass.events.length, warnings], [new Set(["ok"]), 60, []]);
    assert.ok(server.connections() <= 16);
  });

  it("end with an abandoned response, even one that was never read", async (t) => {
    const server = await serveRaw(t, (socket) => {
      socket.once("data", () => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\nabc"));
    });
    const exit = openTestExit(t);
    for (const begins of [false, true]) {
      const { body } = await exit.ask(server.url);
      const iterator = body[Symbol.asyncIterator]();
      if (begins) await iterator.next();
      await iterator.return?.();
      assert.equal(exit.pass.events.length, begins ? 2 : 1);
    }
    while (server.open() > 0) await aTurn();
  });
});

describe("an exit that is closed", () => {
  it("has told of every request by then, exactly once, and leaves no connection", async (t) => {
    const server = await serveRaw(t, (socket) => {
      socket.once("data", (chunk: Buffer) => {
        if (chunk.toString().startsWith("GET /body")) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc");
      });
    });
    const exit = openTestExit(t);
    const waiting = [1, 2, 3].map((i) => exit.ask(`${server.url}/wait/${i}`));
    const settled = Promise.allSettled(waiting);
    const { body } = await exit.ask(`${server.url}/body`);
    const unread = await exit.ask(`${server.url}/body`);
    const reading = textOf(body);
    const broken = assert.rejects(reading, { code: "CANCELLED" });
    while (server.connections() < 5) await aTurn();
    assert.equal(exit.pass.events.length, 0);
    const closed = exit.close();
    assert.equal(exit.pass.events.length, 5, "at once");
    await closed;
    for (const { status, ...outcome } of await settled) {
      assert.equal(status, "rejected");
      assert.equal("reason" in outcome && outcome.reason.code, "CANCELLED");
    }
    await broken;
    await assert.rejects(textOf(unread.body));
    await assert.rejects(exit.ask(server.url), { code: "CANCELLED", message: "the call has ended" });
    while (server.open() > 0) await aTurn();
    await exit.close();
    assert.deepEqual([exit.pass.events.length, server.connections()], [5, 5]);
  });

  it("dials no host whose name resolves after the exit closed", async (t) => {
    const server = await serveHttp(t, (_, response) => response.end("ok"));
    const found = Promise.withResolvers<readonly string[]>();
    const exit = openTestExit(t, {}, { lookUp: () => found.promise });
    const asked = assert.rejects(exit.ask(`http://slow.test:${server.port}/`), { code: "CANCELLED" });
    await aTurn();
    await exit.close();
    found.resolve(["127.0.0.1"]);
    await asked;
    for (let i = 0; i < 20; i++) await aTurn();
    assert.deepEqual([server.connections(), exit.pass.events.length], [0, 1]);
  });
});

describe("a signal", () => {
  it("that has gone off already sends nothing", async (t) => {
    const server = await serveHttp(t, (_, response) => response.end("ok"));
    const exit = openTestExit(t);
    const reason = new KernelError("CANCELLED", "not any more");
    await assert.rejects(exit.request({ method: "GET", url: server.url }, AbortSignal.abort(reason)), reason);
    assert.equal(exit.pass.events.length, 1);
  });

  it("ends a request that waits, and one that is read, with its own reason", async (t) => {
    const server = await serveRaw(t, (socket) => {
      socket.once("data", (chunk: Buffer) => {
        if (chunk.toString().startsWith("GET /body")) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc");
        socket.emit("asked");
      });
    });
    const exit = openTestExit(t);
    const reason = new KernelError("TIMEOUT", "the call took too long");
    const waiting = new AbortController();
    const asked = exit.request({ method: "GET", url: `${server.url}/wait` }, waiting.signal);
    const refused = assert.rejects(asked, reason);
    while (server.connections() === 0) await aTurn();
    waiting.abort(reason);
    await refused;
    const read = new AbortController();
    const { body } = await exit.request({ method: "GET", url: `${server.url}/body` }, read.signal);
    const reading = assert.rejects(textOf(body), reason);
    read.abort(reason);
    await reading;
    assert.equal(exit.pass.events.length, 2);
    while (server.open() > 0) await aTurn();
  });
});

describe("a server that does not take connections", () => {
  it("is an error of the other side", async (t) => {
    const server = await serveRaw(t, () => undefined);
    const exit = openTestExit(t);
    const closed = await import("node:net").then(({ createServer }) => createServer().listen(0, "127.0.0.1"));
    await once(closed, "listening");
    const address = closed.address();
    assert.ok(address !== null && typeof address === "object");
    closed.close();
    await once(closed, "close");
    await assert.rejects(exit.ask(`http://127.0.0.1:${address.port}/`), {
      code: "UPSTREAM_ERROR",
      message: "`127.0.0.1` cannot be reached (ECONNREFUSED)",
    });
    assert.deepEqual([exit.pass.events[0]?.addressClass, server.connections()], ["loopback", 0]);
  });
});
