import assert from "node:assert/strict";
import { readdir, readFile, readlink } from "node:fs/promises";
import { test } from "node:test";
import { createKernel } from "narthex";
import { kernelsOf } from "../../scripts/build/on-demand-kernels.ts";
import { createTestHome, readLines, textOf } from "../cli/home.ts";

/** Listening, in the kernel's own tables. */
const LISTENING = "0A";

/** The local addresses on which a process listens for TCP. */
async function listeningOn(pid: number): Promise<string[]> {
  const links = await Promise.all(
    (await readdir(`/proc/${pid}/fd`)).map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => "")),
  );
  const sockets = new Set(links.map((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? ""));
  const tables = await Promise.all(
    ["tcp", "tcp6"].map((name) => readFile(`/proc/${pid}/net/${name}`, "utf8").catch(() => "")),
  );
  return tables
    .flatMap((table) => table.trim().split("\n").slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode = ""]) => state === LISTENING && sockets.has(inode))
    .map(([, address = ""]) => address);
}

test("serve listens on TCP only at the configured address", async (context) => {
  const at = await createTestHome();
  context.after(() => at.remove());
  const { ready, child, stop } = await at.serve();
  const port = Number(new URL(textOf(ready["listen"])).port);
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  assert.deepEqual(await listeningOn(child.pid ?? 0), [`0100007F:${hex}`]);
  assert.equal(await stop(), 0);
});

test("an embedding program listens on no TCP port, and its sockets respond", async (context) => {
  const at = await createTestHome();
  context.after(() => at.remove());
  const kernel = await createKernel({ data: at.home });
  context.after(() => kernel.close());
  const { id } = await at.openSession();
  assert.deepEqual((await at.ask(["call", "echo", "1", "--session", id]))["result"], 1);
  assert.deepEqual(await listeningOn(process.pid), []);
});

test("mcp and the kernel that it starts listen on no TCP port, and other commands find that kernel", async (context) => {
  const at = await createTestHome();
  context.after(() => at.remove());
  const child = at.start(["mcp", "--workspace", at.workspace]);
  const next = readLines(child);
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
  assert.match(await next(), /"serverInfo"/);
  const { id } = await at.openSession();
  assert.deepEqual((await at.ask(["call", "echo", "1", "--session", id]))["result"], 1);
  const [kernel = 0] = await kernelsOf(at.home);
  for (const pid of [child.pid ?? 0, kernel]) assert.deepEqual(await listeningOn(pid), []);
  child.stdin.end();
});
