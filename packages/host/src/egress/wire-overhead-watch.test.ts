import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { describe, it } from "node:test";
import { saying, serveRaw } from "./testing/loopback-servers.ts";
import { openTestExit, sizeOf } from "./testing/test-pass.ts";

/** Writes the same for ever, as fast as it is read, after it was asked. */
function pouring(head: string, piece: string): (socket: Socket) => void {
  return (socket) => {
    socket.once("data", () => {
      socket.write(head);
      const more = (): void => {
        while (!socket.destroyed && socket.write(piece));
      };
      socket.on("drain", more);
      more();
    });
  };
}

describe("what comes over the wire and is neither header nor body", { timeout: 60_000 }, () => {
  for (const [name, head, piece] of [
    [
      "remarks about a chunk without an end",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;",
      "a".repeat(65_536),
    ],
    ["a reason without an end", "HTTP/1.1 200 ", "a".repeat(65_536)],
    ["empty lines before an answer that never comes", "", "\r\n".repeat(32_768)],
  ] as const) {
    it(`is cut off long before the bound of time: ${name}`, async (t) => {
      const server = await serveRaw(t, pouring(head, piece));
      const exit = openTestExit(t);
      const reading = async (): Promise<number> => sizeOf((await exit.ask(server.url)).body);
      await assert.rejects(reading(), { code: "RESOURCE_EXCEEDED" });
      assert.equal(exit.pass.events.length, 1);
    });
  }

  it("may be as much as a body that comes byte by byte needs", async (t) => {
    const size = 300_000;
    const head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    const server = await serveRaw(t, saying(head, "1\r\na\r\n".repeat(size), "0\r\n\r\n"));
    const exit = openTestExit(t);
    assert.equal(await sizeOf((await exit.ask(server.url)).body), size);
  });
});
