/** Turns pages into text inside a sandbox. Reads requests from stdin, one at a time, and writes responses to stdout. */
import { writeSync } from "node:fs";
import { Socket } from "node:net";
import { encodeMessage, MessageReader } from "../../files/worker/worker-message.ts";
import { PAGE_REQUEST_BOUNDS, type PageReply, type PageRequest } from "./messages.ts";
import { readPage } from "./read-page.ts";

// Silence the console: library output would corrupt the messages on stdout.
globalThis.console = new Proxy(globalThis.console, { get: () => () => undefined });

const requests = new MessageReader(PAGE_REQUEST_BOUNDS);
const input = new Socket({ fd: 0, readable: true, writable: false });
input.on("data", (piece: Buffer) => {
  for (const { id, header, payload } of requests.push(piece)) handle(id, header as PageRequest, payload);
});
input.on("end", () => process.exit(0));
answer(0, { type: "ready" });

function handle(id: number, request: PageRequest, bytes: Buffer): void {
  const page = readPage(request, bytes);
  if ("fault" in page) answer(id, { type: "failed", reason: page.fault });
  else answer(id, { type: "text", format: page.format, title: page.title, charset: page.charset }, page.text);
}

function answer(id: number, reply: PageReply, payload?: Buffer): void {
  for (const piece of encodeMessage(id, reply, payload)) {
    for (let done = 0; done < piece.length; ) done += writeSync(1, piece, done);
  }
}
