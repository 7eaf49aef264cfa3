import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { after, test } from "node:test";
import { createTestHome } from "../cli/home.ts";

/** The campaign floods for longer; what is asserted is the same. */
const SECONDS = Number(process.env["NARTHEX_FLOOD_SECONDS"] ?? 4);
const CONNECTIONS = 1000;
const MAX_GROWTH_BYTES = 64 * 1024 * 1024;

const home = await createTestHome();
const serving = await home.serve();
const session = await home.openSession();
after(async () => {
  assert.equal(await serving.stop(), 0);
  await home.remove();
});

/** Frames that are wrong in every way there is. */
function badFrames(seed: number): Buffer[] {
  const frame = (length: number, body: Buffer = Buffer.alloc(0)) => {
    const head = Buffer.alloc(4);
    head.writeUInt32BE(length);
    return Buffer.concat([Buffer.from("NTX1"), head, body]);
  };
  return [
    Buffer.from("GET / HTTP/1.1\r\n\r\n"),
    frame(0),
    frame(0xffffffff),
    frame(3, Buffer.from([0xff, 0xff, 0xff])),
    frame(2000, Buffer.alloc(2000, seed)),
    frame(128 * 1024 * 1024, Buffer.alloc(1024, seed)),
    frame(100, Buffer.alloc(10)),
    Buffer.from("NTX"),
    Buffer.from([]),
  ];
}

/** The same for the port that takes HTTP/1.1 and HTTP/2. */
function badHttp(seed: number): Buffer[] {
  const call = "POST /narthex.v1.KernelService/Call HTTP/1.1\r\nhost: localhost\r\n";
  return [
    Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff", "latin1"),
    Buffer.from("PRI * HT"),
    Buffer.from("GET / HTTP/1.1\r\nhost: evil.example\r\n\r\n"),
    Buffer.from(`${call}content-type: application/json\r\ncontent-length: 9999999999\r\n\r\n{`),
    Buffer.from(
      `${call}content-type: application/proto\r\ntransfer-encoding: chunked\r\n\r\n${"f\r\n".repeat(seed % 7)}`,
    ),
    Buffer.from(`${call}x-slow: `),
    Buffer.alloc(20_000, seed),
  ];
}

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
}

test("during a thousand connections of bad frames a valid call gets its response, and memory and ledger stay small", async () => {
  const pid = serving.child.pid ?? assert.fail();
  const { hostname, port } = new URL(String(serving.ready["listen"]));
  const targets = [
    { frames: badFrames, to: { path: String(serving.ready["framed_socket"]) } },
    { frames: badHttp, to: { host: hostname, port: Number(port) } },
  ];
  const call = async () => (await home.ask(["call", "echo", "1", "--session", session.id]))["status"];
  assert.equal(await call(), "success");
  const before = await residentBytes(pid);

  const sockets = new Set<Socket>();
  let attempts = 0;
  const flood = (): void => {
    const target = targets[attempts % targets.length] ?? assert.fail();
    const frames = target.frames(attempts);
    const bytes = frames[Math.floor(attempts++ / targets.length) % frames.length] ?? assert.fail();
    const socket = connect(target.to, () => socket.write(bytes));
    socket.on("error", () => undefined);
    socket.on("close", () => {
      sockets.delete(socket);
      if (Date.now() < deadline) setTimeout(flood, 1);
    });
    socket.resume();
    sockets.add(socket);
  };
  const deadline = Date.now() + SECONDS * 1000;
  for (let i = 0; i < CONNECTIONS; i++) flood();

  while (Date.now() < deadline) assert.equal(await call(), "success");
  for (const socket of sockets) socket.destroy();
  assert.equal(await call(), "success");
  assert.ok(attempts > CONNECTIONS);
  const growth = (await residentBytes(pid)) - before;
  assert.ok(growth < MAX_GROWTH_BYTES, `resident memory grew by ${growth} bytes`);

  // The last second's refusals are written at its end.
  await new Promise((resolve) => setTimeout(resolve, 1200));
  const { records } = (await home.ask(["ledger", "list", "--limit", "1000"])) as unknown as { records: unknown[] };
  const refused = JSON.stringify(records).match(/"reason":"[^"]+"/g) ?? [];
  const perReason = new Map<string, number>();
  for (const reason of refused) perReason.set(reason, (perReason.get(reason) ?? 0) + 1);
  assert.ok(perReason.size > 0, "nothing was recorded");
  for (const [reason, count] of perReason) assert.ok(count <= SECONDS + 10, `${reason} was recorded ${count} times`);
  assert.equal((await home.ask(["ledger", "verify"]))["intact"], true);
});
