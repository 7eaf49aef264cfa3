import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { once } from "node:events";
import { after, test } from "node:test";
import { createTestHome, type Running, textOf } from "../cli/home.ts";

/** `NARTHEX_LARGE_BYTES=10737418240` for 10 GB; what is asserted is the same, and it takes twice that of the disk. */
const BYTES = Number(process.env["NARTHEX_LARGE_BYTES"] ?? 144 * 1024 * 1024);
/** Below the content, at whatever size. */
const MAX_GROWTH_BYTES = 112 * 1024 * 1024;
const CHUNK_BYTES = 1024 * 1024;

const at = await createTestHome();
after(() => at.remove());

/** The most that a process ever had in memory. */
async function peakBytes(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) * 1024;
}

/** Bytes that no two chunks share, in the order that their number gives. */
function chunkOf(number: number): Buffer {
  const chunk = Buffer.alloc(CHUNK_BYTES, number & 0xff);
  chunk.writeUInt32BE(number, 0);
  return chunk;
}

async function feed(child: Running): Promise<void> {
  for (let sent = 0; sent < BYTES; sent += CHUNK_BYTES) {
    if (!child.stdin.write(chunkOf(sent / CHUNK_BYTES))) await once(child.stdin, "drain");
  }
  child.stdin.end();
}

test("large content is stored and read without filling memory", { timeout: 3_600_000 }, async (t) => {
  const serving = await at.serve();
  const { id } = await at.openSession();
  // What a first, small one loads is no part of it.
  await at.ask(["cas", "put", "-", "--session", id], 0, { stdin: Buffer.alloc(CHUNK_BYTES) });
  const before = await peakBytes(serving.child.pid);
  const putting = at.start(["cas", "put", "-", "--session", id, "--json"]);
  let printed = "";
  putting.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  await feed(putting);
  assert.deepEqual(await once(putting, "exit"), [0, null]);
  const hash = textOf((JSON.parse(printed) as { hash: string }).hash);
  const file = join(at.root, "read-back");
  await at.ask(["cas", "get", hash, "--session", id, "--out", file]);
  const growth = (await peakBytes(serving.child.pid)) - before;
  t.diagnostic(`the kernel took ${growth} bytes for ${BYTES}`);
  assert.ok(growth < MAX_GROWTH_BYTES, `the kernel took ${growth} bytes for ${BYTES}`);
  assert.equal((await stat(file)).size, BYTES);
  // The last chunk, and one in the middle: the whole was hashed on its way.
  const middle = await at.run(["cas", "get", hash, "--offset", String(BYTES / 2), "--limit", "4"]);
  const expected = chunkOf(BYTES / 2 / CHUNK_BYTES).subarray(0, 4);
  const digest = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
  assert.equal(digest(Buffer.from(middle.stdout)), digest(Buffer.from(expected.toString())));
  const { files } = (await at.ask(["erase", hash, "--reason", "done", "--by", "ada"])) as { files: number };
  assert.equal(files, 1);
  assert.equal(await serving.stop(), 0);
});
