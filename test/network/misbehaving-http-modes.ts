import type { ServerResponse } from "node:http";
import { type OnCall, type OnResumed, QUOTING, said, STATELESS } from "./misbehaving-http-server.ts";

/** Writes the same for ever, as fast as it is read. */
function pour(response: ServerResponse, piece: string | Buffer): void {
  const more = (): void => {
    while (!response.destroyed && response.write(piece));
  };
  response.on("drain", more);
  more();
}

/** What each server does with a call, by its name; one leads to `elsewhere`. */
export const oddModes = (elsewhere: () => string): Readonly<Record<string, OnCall>> => ({
  good: ({ json }, { id }) => json(said(id, "hello")),
  [STATELESS]: ({ json }, { id }) => json(said(id, "without a handshake")),
  silent: () => undefined,
  halfway: ({ stream, event }) => {
    stream();
    event({ jsonrpc: "2.0", method: "notifications/progress" });
  },
  endless: ({ stream, response }) => {
    stream();
    pour(response, `data: {"jsonrpc": "2.0", "method": "notifications/message"}\n\n`.repeat(500));
  },
  remarks: ({ stream, response }) => {
    stream();
    pour(response, `: ${"x".repeat(65_536)}\n`);
  },
  oneline: ({ stream, response }) => {
    stream();
    response.write("data: ");
    pour(response, Buffer.alloc(65_536, "x"));
  },
  large: ({ response }) => {
    response.writeHead(200, { "content-type": "application/json" });
    pour(response, Buffer.alloc(65_536, " "));
  },
  wrongid: ({ json }, { id }) => json(said(id + 1000, "for somebody else")),
  [QUOTING]: ({ json }, { id }) => json(said(id, "hello")),
  twice: ({ stream, response }, { id }) => {
    stream();
    response.end(["one", "two"].map((words) => `data: ${JSON.stringify(said(id, words))}\n\n`).join(""));
  },
  resuming: ({ stream, response }, { id }) => {
    stream();
    response.write(`id: ${id}-a\nretry: 1\ndata:\n\n`);
    setImmediate(() => response.destroy());
  },
  looping: ({ stream, response }) => {
    stream();
    response.end("id: 1\nretry: 0\ndata:\n\n");
  },
  nothing: ({ stream, response }) => {
    stream();
    response.end(": only a remark\n\nid: 1\ndata:\n\nevent: other\ndata: {}\n\n");
  },
  broken: ({ stream, event, response }) => {
    stream();
    event({ jsonrpc: "2.0", method: "notifications/progress" });
    setImmediate(() => response.destroy());
  },
  doublekey: ({ json }, { id }) => json(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"content":[]}}`),
  batch: ({ json }, { id }) => json(`[${JSON.stringify(said(id, "one"))}]`),
  page: ({ response }) => void response.writeHead(200, { "content-type": "text/html" }).end("<html>"),
  accepted: ({ response }) => void response.writeHead(202).end(),
  away: ({ response }) => void response.writeHead(307, { location: `http://${elsewhere()}/good` }).end(),
  down: ({ json }) => json({ jsonrpc: "2.0", id: null, error: { code: -1, message: "out of\norder" } }, 503),
  refusing: ({ json }, { id }) => json({ jsonrpc: "2.0", id, error: { code: -1, message: "not today" } }, 400),
  expiring: ({ json, response }, { id }, calls) =>
    calls === 2 ? void response.writeHead(404).end() : json(said(id, `call ${calls}`)),
  parts: ({ stream, response }, { id }) => {
    stream();
    const [head = "", tail = ""] = JSON.stringify(said(id, "in pieces")).split(`,"result"`);
    response.write(`: hello\r\nevent: message\r\ndata: ${head}\r`);
    response.end(`\ndata: ,"result"${tail}\r\rdata: late`);
  },
  asking: ({ stream, event, afterAnswers, response }, { id }) => {
    stream();
    event({ jsonrpc: "2.0", id: "ping-1", method: "ping" });
    event({ jsonrpc: "2.0", id: 7, method: "sampling/createMessage", params: {} });
    afterAnswers(2, () => {
      event(said(id, "never mind"));
      response.end();
    });
  },
  insisting: ({ stream, event }) => {
    stream();
    for (const id of [7, 8]) event({ jsonrpc: "2.0", id, method: "sampling/createMessage", params: {} });
  },
});

/** What some do when they are asked to go on. */
export const ODD_RESUMED: Readonly<Record<string, OnResumed>> = {
  resuming: ({ stream, event, response }, from) => {
    stream();
    if (from.endsWith("-a")) return void response.end(`id: ${from.replace("-a", "-b")}\ndata:\n\n`);
    event(said(Number.parseInt(from, 10), "after all"));
    response.end();
  },
  looping: ({ stream, response }) => {
    stream();
    response.end();
  },
};
