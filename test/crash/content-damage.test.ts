import assert from "node:assert/strict";
import { appendFile, mkdir, open, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fromHex } from "@narthex/contracts";
import { verifyLedger } from "narthex";
import type { SocketKernel } from "../doors/socket-kernel.ts";
import { CallSource } from "./machines/call-until-failure.ts";
import { type CrashHome, createCrashHome } from "./rounds/crash-home.ts";
import { callOf, type LoadCall } from "./rounds/load-call.ts";
import { makeCall } from "./rounds/make-call.ts";

const SEED = 41;
const SECRET = "what no tool has read";

/** What somebody, or a disk, did to a file of content. */
const DAMAGES: readonly (readonly [name: string, damage: (path: string, secret: string) => Promise<void>])[] = [
  ["is missing", (path) => rm(path)],
  ["is cut", async (path) => truncate(path, (await stat(path)).size - 1)],
  ["is empty", (path) => truncate(path, 0)],
  ["has grown", (path) => appendFile(path, "more")],
  ["is longer, and other from its middle on", async (path) => flipByte(path).then(() => appendFile(path, "more"))],
  ["has one other byte", flipByte],
  ["is a link to another file", async (path, secret) => rm(path).then(() => symlink(secret, path))],
  ["is a directory", async (path) => rm(path).then(() => mkdir(path))],
];

describe("a result whose file", () => {
  let at: CrashHome;
  let source: CallSource;
  let secret: string;
  /** Started again by each test, once its file is damaged. */
  let kernel: SocketKernel;
  before(async () => {
    at = await createCrashHome();
    source = new CallSource(SEED);
    secret = join(at.root, "secret");
    await writeFile(secret, SECRET.repeat(5000));
    kernel = await at.open();
  });
  after(() => at.remove());

  for (const [name, damage] of DAMAGES) {
    it(`${name} is never returned as content, is named by verify, and affects nothing else`, async (t) => {
      const call = nextCall("expand");
      const answer = await makeCall(kernel, at.sessions, call);
      const [, hash = ""] = answer.split(" ");
      const path = join(at.home, "content", hash.slice(0, 2), hash);
      await kernel.close();
      await damage(path, secret);
      kernel = await at.open();

      const again = await makeCall(kernel, at.sessions, call);
      t.diagnostic(`the call answers ${again}`);
      assert.match(again, /^error (?:CONTENT_NOT_FOUND|STORE_UNAVAILABLE|INTERNAL)$/);
      await assert.rejects(readAll(hash, call), (fault) => fault instanceof Error && !fault.message.includes(SECRET));
      const { problems, intact, complete } = await verifyLedger(kernel.ledgerSource());
      assert.equal(intact && complete, false);
      const codes = new Set(problems.map(({ code }) => code));
      t.diagnostic(`verify says ${[...codes].join(", ")}`);
      for (const code of codes) assert.match(code, /^content_/);
      assert.match(await makeCall(kernel, at.sessions, nextCall("echo")), /^success /);

      await rm(path, { recursive: true, force: true });
      assert.match(
        await makeCall(kernel, at.sessions, call, `${call.requestId}-again`),
        new RegExp(`^success ${hash} `),
      );
      assert.equal(await makeCall(kernel, at.sessions, call), answer, "the same content, made again, is as good");
      assert.deepEqual((await verifyLedger(kernel.ledgerSource())).problems, []);
    });
  }

  function nextCall(tool: string): LoadCall {
    const [requestId = ""] = source.take(1, (planned) => planned === tool);
    return callOf(SEED, requestId);
  }

  async function readAll(hash: string, call: LoadCall): Promise<void> {
    const digest = fromHex(hash);
    assert.ok(digest);
    const { chunks } = await kernel.getContent(at.sessions[call.session]?.id ?? "", digest, 0, 1_000_000);
    for await (const chunk of chunks) assert.ok(!Buffer.from(chunk).includes(SECRET));
  }
});

async function flipByte(path: string): Promise<void> {
  const file = await open(path, "r+");
  const { size } = await file.stat();
  const at = Math.floor(size / 2);
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, at);
  await file.write(Buffer.from([(buffer[0] ?? 0) ^ 1]), 0, 1, at);
  await file.close();
}
