import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createKernelHealth } from "./kernel-health.ts";

/** What is seen of a socket behind which this server is, or nobody. */
async function look(t: TestContext, server: Server | undefined, withinMs = 60_000): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "health-"));
  const path = join(directory, "services.sock");
  const sockets = new Set<Socket>();
  server?.on("connection", (socket: Socket) => void sockets.add(socket));
  if (server !== undefined) await new Promise<void>((resolve) => server.listen(path, resolve));
  const health = createKernelHealth(path);
  t.after(async () => {
    health.close();
    for (const socket of sockets) socket.destroy();
    server?.close();
    await rm(directory, { recursive: true });
  });
  return health.check(withinMs);
}

test("reports a kernel as going when nothing listens on its socket", async (t) => {
  assert.equal(await look(t, undefined), "going");
});

test("reports a kernel that accepts the request and does not respond as silent", async (t) => {
  assert.equal(
    await look(
      t,
      createServer(() => undefined),
      50,
    ),
    "silent",
  );
});

test("reports a kernel that refuses the request because it stops as going", async (t) => {
  const stopping = createHttpServer((_, response) => response.writeHead(503).end("shutting down"));
  assert.equal(await look(t, stopping), "going");
});

test("a broken connection is no evidence about the kernel", async (t) => {
  assert.equal(
    await look(
      t,
      createServer((socket) => socket.destroy()),
    ),
    "unknown",
  );
});
