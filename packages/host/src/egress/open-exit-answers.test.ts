import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { saying, serveHttp, serveRaw } from "./testing/loopback-servers.ts";
import { openTestExit, sizeOf, textOf } from "./testing/test-pass.ts";

const MEBIBYTE = 2 ** 20;
const QUICK = { headersMs: 300, idleMs: 300, connectMs: 1000 };

/** What somebody gets who asks a server that says just this. */
async function askRaw(t: TestContext, speak: (socket: Socket) => void, method = "GET") {
  const server = await serveRaw(t, speak);
  const exit = openTestExit(t, {}, { times: QUICK });
  return { exit, server, answer: () => exit.ask(server.url, { method }) };
}

/** A mebibyte of zeros has a kilobyte when packed, and packed ones can follow each other. */
function gzipOfZeros(mebibytes: number): Buffer {
  return Buffer.concat(new Array<Buffer>(mebibytes).fill(gzipSync(Buffer.alloc(MEBIBYTE))));
}

describe("an answer", () => {
  for (const [name, said, code] of [
    ["that is no HTTP", "hello, who is there?\r\n\r\n", "UPSTREAM_ERROR"],
    ["of HTTP/0.9", "<html>an old page</html>", "UPSTREAM_ERROR"],
    ["of binary bytes", "\0\x01\x02\xff", "UPSTREAM_ERROR"],
    ["that is TLS where plain text was asked for", "\x16\x03\x01\0\x01\0", "UPSTREAM_ERROR"],
    ["with a header line of a megabyte", `HTTP/1.1 200 OK\r\nx: ${"a".repeat(MEBIBYTE)}\r\n\r\n`, "RESOURCE_EXCEEDED"],
    ["with 100,000 headers", `HTTP/1.1 200 OK\r\n${"a: b\r\n".repeat(100_000)}\r\n`, "RESOURCE_EXCEEDED"],
    ["with two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab", "UPSTREAM_ERROR"],
    ["that continues what nobody began", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "UPSTREAM_ERROR"],
    [
      "that changes the protocol",
      "HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n\x81\x05hello",
      "UPSTREAM_ERROR",
    ],
    ["that changes it to nothing", "HTTP/1.1 101 Switching\r\n\r\n", "UPSTREAM_ERROR"],
    ["of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "UPSTREAM_ERROR"],
    ["that never begins", "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n".repeat(1000), "UPSTREAM_ERROR"],
  ] as const) {
    it(`${name} is ${code}, and one event`, async (t) => {
      const { answer, exit } = await askRaw(t, saying(Buffer.from(said, "latin1")));
      await assert.rejects(answer(), { code });
      assert.deepEqual(
        exit.pass.events.map(({ status, refused }) => [status, refused]),
        [[undefined, undefined]],
      );
    });
  }

  it("that is only the end of a connection, or its reset, is an error of the other side", async (t) => {
    for (const speak of [
      (socket: Socket) => socket.destroy(),
      (socket: Socket) => socket.resetAndDestroy(),
      (socket: Socket) => void socket.once("data", () => socket.resetAndDestroy()),
      (socket: Socket) => void socket.once("data", () => socket.end("HTTP/1.1 200")),
    ]) {
      const { answer, exit } = await askRaw(t, (socket) => void speak(socket));
      await assert.rejects(answer(), { code: "UPSTREAM_ERROR" });
      assert.equal(exit.pass.events.length, 1);
    }
  });

  it("comes after hints of what it will be, which are no answer", async (t) => {
    const hints = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n".repeat(3);
    const { answer } = await askRaw(t, saying(`${hints}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok`));
    const got = await answer();
    assert.deepEqual([got.status, await textOf(got.body)], [200, "ok"]);
  });

  it("that does not come is given up in time", async (t) => {
    const late = async (speak: (socket: Socket) => void): Promise<void> => {
      const { answer, exit, server } = await askRaw(t, speak);
      await assert.rejects(answer(), { code: "TIMEOUT", message: "`127.0.0.1` did not answer in time" });
      assert.deepEqual([exit.pass.events.length, server.connections()], [1, 1]);
    };
    await Promise.all([late(() => undefined), late(saying("HTTP/1.1 200 OK\r\nx: ")), late(saying("HTTP/1.1 2"))]);
  });

  it("keeps its headers in order, in lower case, and byte by byte", async (t) => {
    const lines = "X-B: 1\r\nx-a: 2\r\nSet-Cookie: a\r\nset-cookie: b\r\nx-odd: \xe2\x82\xac\r\nContent-Length: 0";
    const { answer } = await askRaw(t, saying(Buffer.from(`HTTP/1.1 200 OK\r\n${lines}\r\n\r\n`, "latin1")));
    const { headers } = await answer();
    assert.deepEqual(
      headers.map(([name]) => name),
      ["x-b", "x-a", "set-cookie", "set-cookie", "x-odd", "content-length"],
    );
  });
});

describe("a body", () => {
  const head = "HTTP/1.1 200 OK\r\n";

  for (const [name, said] of [
    ["shorter than it was said to be", `${head}content-length: 100\r\n\r\nabc`],
    ["of chunks that end in the middle", `${head}transfer-encoding: chunked\r\n\r\n5\r\nab`],
    ["of broken chunks", `${head}transfer-encoding: chunked\r\n\r\nzz\r\nab\r\n`],
    ["that is no gzip", `${head}content-encoding: gzip\r\ncontent-length: 5\r\n\r\nhello`],
    ["that is no brotli", `${head}content-encoding: br\r\ncontent-length: 5\r\n\r\nhello`],
    [
      "of half a gzip",
      Buffer.concat([Buffer.from(`${head}content-encoding: gzip\r\n\r\n`), gzipSync("a".repeat(999)).subarray(0, 20)]),
    ],
  ] as const) {
    it(`${name} is an error of the other side, and one event`, async (t) => {
      const { answer, exit } = await askRaw(t, (socket) => void socket.once("data", () => socket.end(said)));
      const got = await answer();
      await assert.rejects(textOf(got.body), { code: "UPSTREAM_ERROR" });
      assert.deepEqual(
        exit.pass.events.map(({ status }) => status),
        [200],
      );
    });
  }

  it("that breaks off is an error of the other side", async (t) => {
    const speak = (socket: Socket): void =>
      void socket.once("data", () =>
        socket.write(`${head}content-length: 10\r\n\r\nab`, () => socket.resetAndDestroy()),
      );
    const { answer } = await askRaw(t, speak);
    await assert.rejects(async () => textOf((await answer()).body), { code: "UPSTREAM_ERROR" });
  });

  it("that stops in the middle is given up in time", async (t) => {
    const stopping = async (said: string): Promise<void> => {
      const { answer, exit } = await askRaw(t, saying(said));
      const got = await answer();
      await assert.rejects(textOf(got.body), {
        code: "TIMEOUT",
        message: "`127.0.0.1` stopped in the middle of its answer",
      });
      assert.deepEqual(
        exit.pass.events.map(({ status, receivedBytes }) => [status, receivedBytes > 0]),
        [[200, true]],
      );
    };
    const chunked = `${head}transfer-encoding: chunked\r\n\r\n1\r\na\r\n`;
    await Promise.all([stopping(`${head}content-length: 10\r\n\r\na`), stopping(chunked)]);
  });

  it("without an end is cut off at the bound, and the connection with it", async (t) => {
    const chunk = `10000\r\n${"a".repeat(0x10000)}\r\n`;
    const endless = (socket: Socket): void => {
      const more = (): void => {
        while (!socket.destroyed && socket.write(chunk));
      };
      socket.once("data", () => {
        socket.on("drain", more);
        socket.write(`${head}transfer-encoding: chunked\r\n\r\n`);
        more();
      });
    };
    const server = await serveRaw(t, endless);
    const exit = openTestExit(t);
    const got = await exit.ask(server.url, { maxBodyBytes: 5 * MEBIBYTE });
    let size = 0;
    const reading = async (): Promise<void> => {
      for await (const piece of got.body) size += piece.length;
    };
    await assert.rejects(reading(), {
      code: "RESOURCE_EXCEEDED",
      message: "body: at most 5242880 bytes, and it is larger",
    });
    assert.ok(size <= 5 * MEBIBYTE);
    const [event, ...more] = exit.pass.events;
    assert.ok(event !== undefined && event.receivedBytes < 7 * MEBIBYTE, String(event?.receivedBytes));
    assert.deepEqual(more, []);
  });

  it("whose reader asks for less than the pass allows gets no more than the pass allows", async (t) => {
    const server = await serveHttp(t, (_, response) => response.end("a".repeat(1000)));
    const exit = openTestExit(t, { bounds: { maxBodyBytes: 100 } });
    for (const maxBodyBytes of [99, 2 ** 40]) {
      const got = await exit.ask(server.url, { maxBodyBytes });
      await assert.rejects(sizeOf(got.body), { code: "RESOURCE_EXCEEDED" });
    }
  });

  it("of a gigabyte of zeros in a megabyte is unpacked piece by piece", async (t) => {
    const bomb = gzipOfZeros(1024);
    const server = await serveHttp(t, (_, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
    });
    const exit = openTestExit(t);
    const before = process.memoryUsage().rss;
    const got = await exit.ask(server.url, { maxBodyBytes: 128 * MEBIBYTE });
    await assert.rejects(sizeOf(got.body), { code: "RESOURCE_EXCEEDED" });
    const grown = process.memoryUsage().rss - before;
    assert.ok(grown < 100 * MEBIBYTE, `${grown} bytes more`);
    assert.equal(exit.pass.events.length, 1);
  });

  it("packed by brotli, or twice, is cut off at the bound too", async (t) => {
    const zeros = Buffer.alloc(32 * MEBIBYTE);
    const packed = new Map([
      ["br", brotliCompressSync(zeros, { params: { 1: 1 } })],
      ["gzip, gzip", gzipSync(gzipSync(zeros))],
      ["deflate", deflateSync(zeros)],
    ]);
    const server = await serveHttp(t, (request, response) => {
      const encoding = decodeURIComponent(request.url?.slice(1) ?? "");
      response.writeHead(200, { "content-encoding": encoding }).end(packed.get(encoding));
    });
    const exit = openTestExit(t);
    for (const encoding of packed.keys()) {
      const got = await exit.ask(`${server.url}/${encodeURIComponent(encoding)}`, { maxBodyBytes: MEBIBYTE });
      await assert.rejects(sizeOf(got.body), { code: "RESOURCE_EXCEEDED" }, encoding);
    }
  });

  it("is unpacked as its header says", async (t) => {
    const text = "a text, ".repeat(1000);
    const packed = new Map([
      ["gzip", gzipSync(text)],
      ["X-GZIP", gzipSync(text)],
      ["deflate", deflateSync(text)],
      ["br", brotliCompressSync(text)],
      ["identity", Buffer.from(text)],
      ["gzip, br", brotliCompressSync(gzipSync(text))],
      [" , gzip ,", gzipSync(text)],
    ]);
    const server = await serveHttp(t, (request, response) => {
      const encoding = decodeURIComponent(request.url?.slice(1) ?? "");
      response.writeHead(200, { "content-encoding": encoding }).end(packed.get(encoding));
    });
    const exit = openTestExit(t);
    for (const encoding of packed.keys()) {
      const got = await exit.ask(`${server.url}/${encodeURIComponent(encoding)}`);
      assert.equal(await textOf(got.body), text, encoding);
    }
  });

  it("rejects a content encoding that was not requested, and closes the connection", async (t) => {
    const server = await serveHttp(t, (request, response) => {
      response.writeHead(200, { "content-encoding": decodeURIComponent(request.url?.slice(1) ?? "") }).end("x");
    });
    const exit = openTestExit(t);
    for (const encoding of ["zstd", "compress", "gzip, gzip, gzip", "gzip, odd", "x".repeat(5000)]) {
      await assert.rejects(
        exit.ask(`${server.url}/${encodeURIComponent(encoding)}`),
        { code: "UPSTREAM_ERROR" },
        encoding,
      );
    }
    assert.equal(exit.pass.events.length, 5);
  });

  it("that is not there is not unpacked", async (t) => {
    const server = await serveHttp(t, (request, response) => {
      response.writeHead(Number(request.url?.slice(1)), { "content-encoding": "gzip" }).end();
    });
    const exit = openTestExit(t);
    for (const [status, method] of [
      [204, "GET"],
      [304, "GET"],
      [200, "HEAD"],
      [200, "GET"],
    ] as const) {
      const got = await exit.ask(`${server.url}/${status}`, { method });
      assert.equal(await textOf(got.body), "", `${status} ${method}`);
    }
  });

  it("reaches its reader whole and in order, however slowly it is read", async (t) => {
    const sent = Buffer.from(Array.from({ length: 300_000 }, (_, i) => String(i)).join(","));
    const server = await serveHttp(t, (_, response) => response.end(sent));
    const exit = openTestExit(t);
    const got = await exit.ask(server.url);
    const chunks: Uint8Array[] = [];
    for await (const chunk of got.body) {
      chunks.push(chunk);
      await new Promise(setImmediate);
    }
    assert.ok(Buffer.concat(chunks).equals(sent));
    assert.ok((exit.pass.events[0]?.receivedBytes ?? 0) >= sent.length);
  });

  it("that is not read is not fetched either", async (t) => {
    let written = 0;
    const piece = Buffer.alloc(65_536);
    const server = await serveRaw(t, (socket) => {
      const more = (): void => {
        do written += piece.length;
        while (!socket.destroyed && socket.write(piece));
      };
      socket.once("data", () => {
        socket.on("drain", more);
        socket.write(`${head}content-length: ${2 ** 40}\r\n\r\n`);
        more();
      });
    });
    const exit = openTestExit(t);
    const got = await exit.ask(server.url);
    const iterator = got.body[Symbol.asyncIterator]();
    await iterator.next();
    const charged = (): number => exit.pass.charges.reduce((sum, bytes) => sum + bytes, 0);
    for (let i = 0; i < 50; i++) await new Promise(setImmediate);
    const settled = charged();
    for (let i = 0; i < 50; i++) await new Promise(setImmediate);
    assert.equal(charged(), settled);
    assert.ok(settled < MEBIBYTE && written < 64 * MEBIBYTE, `${settled} ${written}`);
    await iterator.return?.();
  });
});
