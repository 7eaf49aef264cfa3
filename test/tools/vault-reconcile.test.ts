import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, it, type TestContext } from "node:test";
import { blake3, parseJson, toHex, utf8 } from "@narthex/contracts";
import { verifyLedger } from "@narthex/verify";
import { type CallResult, createKernel, type NarthexKernel } from "narthex";
import { kernelProgram } from "../built/kernel-program.ts";
import { createVaultKernel, endOf, PERMIT, type VaultKernel } from "./vault-kernel.ts";

const CRASHING = new URL("./crashing-vault-kernel.ts", import.meta.url);
const SECRET = "hunter2-hunter2-hunter2";
const HASH = toHex(blake3(utf8(SECRET)));
const INPUT = { source: "key", destination: "placed" };

interface Lost {
  readonly at: VaultKernel;
  readonly kernel: NarthexKernel;
  readonly labels: readonly string[];
  ask(): Promise<CallResult>;
}

/** Dies in the call, changes something while there is no kernel, and starts the next one. */
async function lose(
  context: TestContext,
  crashAt: "invoke" | "keep",
  input: { readonly source: string; readonly destination: string },
  change: { before?(at: VaultKernel): Promise<void>; after?(at: VaultKernel): Promise<void> } = {},
): Promise<Lost> {
  const at = await createVaultKernel();
  const opened: NarthexKernel[] = [];
  context.after(async () => {
    // It still writes to the home that is taken away then.
    for (const kernel of opened) await kernel.close({ graceMs: 0 });
    await at[Symbol.asyncDispose]();
  });
  await at.hide("key", SECRET);
  await change.before?.(at);
  await at.own();
  await at.kernel.close();
  const words = kernelProgram(CRASHING, at.home, at.workspace, JSON.stringify(input), crashAt, PERMIT);
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
  const [said, [, signal]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  assert.equal(signal, "SIGKILL");
  const { id, token } = JSON.parse(said) as { id: string; token: string };
  await change.after?.(at);
  const kernel = await createKernel({ data: at.home, policies: [{ name: "test.cedar", text: PERMIT }] });
  opened.push(kernel);
  const labels = (await kernel.getSession(id))?.session.labels ?? [];
  const ask = () => kernel.callInProcess({ token, tool: "vault_copyto", input, requestId: "lost" });
  return { at, kernel, labels, ask };
}

describe("a kernel that died during a copy out of its vault", { timeout: 240_000 }, () => {
  it("finds that nothing was written, and the call can be made again", async (context) => {
    const { at, kernel, ask } = await lose(context, "invoke", INPUT);
    assert.deepEqual(await kernel.listIntents(), []);
    await assert.rejects(stat(at.at("placed")), { code: "ENOENT" });
    assert.deepEqual(endOf(await ask()).raw, { bytes: SECRET.length, hash: HASH });
    assert.equal(await readFile(at.at("placed"), "utf8"), SECRET);
  });

  it("finds that the earlier content is still there", async (context) => {
    const before = (at: VaultKernel) => writeFile(at.at("placed"), "what was there");
    const { at, kernel } = await lose(context, "invoke", INPUT, { before });
    assert.deepEqual(await kernel.listIntents(), []);
    assert.equal(await readFile(at.at("placed"), "utf8"), "what was there");
  });

  it("finds that it was written, responds as the call would have, and writes nothing again", async (context) => {
    const { at, kernel, ask } = await lose(context, "keep", INPUT);
    assert.deepEqual(await kernel.listIntents(), []);
    const { ino, mtimeMs } = await stat(at.at("placed"));
    const { result } = (await ask()).response;
    assert.ok(result.case === "success", result.case);
    assert.deepEqual(parseJson(result.value.inlineResult), { bytes: SECRET.length, hash: HASH });
    const again = await stat(at.at("placed"));
    assert.deepEqual([again.ino, again.mtimeMs], [ino, mtimeMs]);
    assert.deepEqual((await verifyLedger(kernel.ledgerSource())).problems, []);
  });

  it("has labelled the session before any byte leaves the vault", async (context) => {
    assert.deepEqual((await lose(context, "keep", INPUT)).labels, ["secret"]);
  });

  it("leaves the outcome to a person if the vault's file has changed since", async (context) => {
    const after = (at: VaultKernel) => at.hide("key", "another-secret");
    const { at, kernel, ask, labels } = await lose(context, "keep", INPUT, { after });
    assert.equal((await kernel.listIntents()).length, 1);
    assert.equal(endOf(await ask()).code, "OUTCOME_UNKNOWN");
    assert.equal(await readFile(at.at("placed"), "utf8"), SECRET);
    assert.deepEqual(labels, ["secret"]);
  });

  it("leaves the outcome to a person if a link led elsewhere, or another file is in the way by now", async (context) => {
    const linked = await lose(
      context,
      "keep",
      { source: "link", destination: "placed" },
      { before: (at) => symlink("key", join(at.vault, "link")) },
    );
    assert.equal((await linked.kernel.listIntents()).length, 1);
    const inTheWay = await lose(context, "invoke", INPUT, {
      async after(at) {
        await mkdir(at.at("placed"));
        const { uid, gid } = await stat(at.workspace);
        await chown(at.at("placed"), uid, gid);
      },
    });
    assert.equal((await inTheWay.kernel.listIntents()).length, 1);
  });
});
