import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, before, describe, it } from "node:test";
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from "node:zlib";
import { createNetworkKernel, type NetworkKernel, startServer, type TestServer } from "./network-kernel.ts";

const MB = 1024 * 1024;
const ZEROS = Buffer.alloc(80 * MB);
const FAST = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

/** Writes the same for ever, as fast as it is read. */
function pour(response: ServerResponse, piece: Buffer): void {
  const more = (): void => {
    while (!response.destroyed && response.write(piece));
  };
  response.on("drain", more);
  more();
}

const packed = (encoding: string, body: Buffer) => (response: ServerResponse) =>
  void response.writeHead(200, { "content-type": "text/plain", "content-encoding": encoding }).end(body);
const plain = (type: string, body: string | Buffer) => (response: ServerResponse) =>
  void response.writeHead(200, { "content-type": type }).end(body);

/** What is answered, and what becomes of http_fetch and of web_fetch. */
const ANSWERS: Readonly<Record<string, readonly [(response: ServerResponse) => void, RegExp, RegExp]>> = {
  "an endless body": [(response) => pour(response, Buffer.alloc(MB)), /RESOURCE_EXCEEDED/, /RESOURCE_EXCEEDED/],
  "ten gigabytes, as it says": [
    (response) => {
      response.writeHead(200, { "content-length": String(10 * 1024 * MB) });
      pour(response, Buffer.alloc(MB, "a"));
    },
    /RESOURCE_EXCEEDED/,
    /RESOURCE_EXCEEDED/,
  ],
  "zeros by gzip": [packed("gzip", gzipSync(ZEROS, { level: 1 })), /RESOURCE_EXCEEDED/, /RESOURCE_EXCEEDED/],
  "zeros by brotli": [packed("br", brotliCompressSync(ZEROS, FAST)), /RESOURCE_EXCEEDED/, /RESOURCE_EXCEEDED/],
  "zeros by zstd": [packed("zstd", zstdCompressSync(ZEROS)), /UPSTREAM_ERROR/, /UPSTREAM_ERROR/],
  "a hundred thousand headers": [
    (response) => {
      response.socket?.write(
        `HTTP/1.1 200 OK\r\n${Array.from({ length: 100_000 }, (_, n) => `x-${n}: y\r\n`).join("")}\r\n`,
      );
    },
    /RESOURCE_EXCEEDED/,
    /RESOURCE_EXCEEDED/,
  ],
  "no gzip, though it says so": [packed("gzip", Buffer.from("no gzip")), /UPSTREAM_ERROR/, /UPSTREAM_ERROR/],
  "bytes that are no text": [
    plain("text/html; charset=utf-8", Buffer.from([0x3c, 0x70, 0x3e, 0xff, 0xfe, 0xc0])),
    /success/,
    /success/,
  ],
  "JSON that is none": [plain("application/json", '{"a": '), /success/, /success/],
  "JSON of a hundred thousand levels": [plain("application/json", "[".repeat(100_000)), /success/, /success/],
  "a picture called a page": [
    plain("text/html", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0])),
    /success/,
    /success|NOT_TEXT/,
  ],
};

describe("responses of a hostile server", { timeout: 180_000 }, () => {
  let at: NetworkKernel;
  let server: TestServer;
  const used = new AsyncDisposableStack();
  before(async () => {
    server = used.use(
      await startServer((request, response) => {
        const [answer] = ANSWERS[decodeURIComponent(request.url?.slice(1) ?? "")] ?? assert.fail();
        answer(response);
      }),
    );
    at = used.use(await createNetworkKernel());
  });
  after(() => used.disposeAsync());

  for (const [name, [, fetched, read]] of Object.entries(ANSWERS)) {
    it(`end at a limit or with their readable part: ${name}`, async () => {
      const { session } = await at.open({ reads: [server.place] });
      const url = `http://${server.place}/${encodeURIComponent(name)}`;
      for (const [tool, expected] of [
        ["http_fetch", fetched],
        ["web_fetch", read],
      ] as const) {
        const { result } = (await session.call(tool, { url })).response;
        const ending =
          result.case === "error" ? `${result.value.errorCode} ${result.value.message}` : String(result.case);
        assert.match(ending, expected, tool);
      }
    });
  }
});
