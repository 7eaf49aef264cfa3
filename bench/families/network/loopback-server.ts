/**
 * Answers requests without looking at more than their path, so that the time is the asker's: prints its port, then
 * serves. `/json` is 1 KB, `/page` a short page, `/big` as many MB as its argument says.
 */
import { createServer } from "node:net";
import { SMALL_BYTES } from "./bodies.ts";

const MB = 1024 * 1024;
const text = JSON.stringify({ name: "sample", values: Array.from({ length: 100 }, (_, n) => n * n) });
const sentence = "<p>The kernel looks at every call before it runs, and <a href='/more'>keeps</a> what came of it.</p>";
const page = `<html><head><title>Sample</title></head><body><main><h1>Sample</h1>${sentence.repeat(10)}</main></body></html>`;

const ANSWERS: ReadonlyMap<string, Buffer> = new Map([
  ["/json", answer("application/json", Buffer.from(text.padEnd(SMALL_BYTES)))],
  ["/page", answer("text/html; charset=utf-8", Buffer.from(page))],
  ["/big", answer("application/octet-stream", Buffer.alloc(Number(process.argv[2] ?? 1) * MB, "narthex"))],
]);

function answer(type: string, body: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n`),
    body,
  ]);
}

const server = createServer({ noDelay: true }, (socket) => {
  let held = "";
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk) => {
    held += chunk.toString("latin1");
    for (let end = held.indexOf("\r\n\r\n"); end >= 0; end = held.indexOf("\r\n\r\n")) {
      const [, path = ""] = /^GET ([^ ?]*)/.exec(held) ?? [];
      held = held.slice(end + 4);
      const found = ANSWERS.get(path);
      if (found === undefined) socket.destroy();
      else socket.write(found);
    }
  });
});
server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => {
  const address = server.address();
  console.log(typeof address === "object" ? address?.port : address);
});
