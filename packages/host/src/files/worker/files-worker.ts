/**
 * The worker that accesses the files of one workspace, inside a sandbox. Reads requests from stdin and writes responses
 * to stdout.
 */
import { writeSync } from "node:fs";
import { Socket } from "node:net";
import { encodeMessage, MessageReader, REQUEST_BOUNDS } from "./worker-message.ts";
import type { WorkerReply, WorkerRequest } from "./messages.ts";
import { sweepPath } from "./sweep.ts";
import { Tickets } from "./tickets.ts";
import { openRoot, type Workspace } from "./workspace.ts";

const requests = new MessageReader(REQUEST_BOUNDS);
let tickets: Tickets | undefined;

process.umask(0o022);
const input = new Socket({ fd: 0, readable: true, writable: false });
input.on("data", (piece: Buffer) => {
  for (const frame of requests.push(piece)) {
    const request = frame.header as WorkerRequest;
    if (request.type === "start") start(request);
    else tickets?.handle(frame, request);
  }
});
input.on("end", () => process.exit(0));

function start({ workspace, sweep, ...prefixes }: WorkerRequest & { type: "start" }): void {
  const { ownedPrefix, runPrefix, temporaryPrefix } = prefixes;
  const opened: Workspace = { ...openRoot(), outsidePath: workspace, ownedPrefix, runPrefix, temporaryPrefix };
  tickets = new Tickets(opened, answer);
  answer(0, { type: "ready", device: String(opened.device), inode: String(opened.inode) });
  for (const { path, prefix } of sweep) sweepPath(opened, path, (name) => name.startsWith(prefix));
}

/** Blocks until everything is written: the kernel always reads, and never receives more than it requested. */
function answer(id: number, reply: WorkerReply, payload?: Buffer): void {
  for (const piece of encodeMessage(id, reply, payload)) {
    for (let done = 0; done < piece.length; ) done += writeSync(1, piece, done);
  }
}
