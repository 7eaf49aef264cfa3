import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chown, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import {
  type AttackedKernel,
  type AttackSession,
  type CallAnswer,
  startAttackedKernel,
} from "./support/attacked-kernel.ts";

const PROGRAM = fileURLToPath(new URL("../../packages/narthex/bin/narthex.js", import.meta.url));
const PLANT = "mkdir .vscode; echo attack > .vscode/tasks.json; echo planted";

/** A directory that turns root's while a program runs is one that its owner can move nothing out of. */
describe("a workspace whose protected paths cannot be restored", { timeout: 120_000 }, () => {
  let at: AttackedKernel;
  before(async () => {
    at = await startAttackedKernel();
  });
  after(() => at.remove());

  const isRoot = (context: TestContext): boolean => {
    if (process.getuid?.() === 0) return true;
    context.diagnostic("not root: nothing that these tests could do keeps a workspace's owner from moving a file");
    return false;
  };

  async function makeWorkspace(name: string): Promise<string> {
    const workspace = await at.makeWorkspace(name);
    // A repository, so that jobs are guarded there as well.
    await mkdir(join(workspace, "sub/.git"), { recursive: true });
    await writeFile(join(workspace, "sub/.git/config"), "");
    await at.own(workspace);
    return workspace;
  }

  /** Waits for the word, and makes the directory root's. */
  async function plant(session: AttackSession, workspace: string, tool: string): Promise<CallAnswer> {
    const command = `${PLANT}; until [ -e ../go ]; do sleep 0.02; done`;
    const planted = Promise.withResolvers<void>();
    const onOutput = (): void => planted.resolve();
    const call = session.call(tool, { command, cwd: "sub" }, { onOutput });
    if (tool === "shell_exec") await planted.promise;
    else await existing(join(workspace, "sub/.vscode/tasks.json"));
    await chown(join(workspace, "sub"), 0, 0);
    await writeFile(join(workspace, "go"), "");
    return await call;
  }

  async function existing(path: string): Promise<void> {
    while ((await readFile(path).catch(() => undefined)) === undefined)
      await new Promise((done) => setTimeout(done, 5));
  }

  async function narthex(...words: readonly string[]): Promise<{ readonly code: number; readonly stdout: string }> {
    const env = { ...process.env, NARTHEX_DATA: at.home };
    return await new Promise((resolve) => {
      execFile(process.execPath, [PROGRAM, ...words], { env }, (fault, stdout) => {
        resolve({ code: fault === null ? 0 : Number(fault.code), stdout });
      });
    });
  }

  test("is closed to all programs, its session is quarantined, and doctor reports it until a person accepts it", async (context) => {
    if (!isRoot(context)) return;
    const workspace = await makeWorkspace("refused");
    const session = await at.open(workspace);
    const { code, message } = await plant(session, workspace, "shell_exec");
    assert.equal(code, "PROTECTION_FAILED");
    assert.match(message, /`sub\/\.vscode` \(E[A-Z]+\).*narthex doctor/);
    assert.equal((await session.call("file_list", { path: "." })).code, "SESSION_QUARANTINED");
    const other = await at.open(workspace);
    for (let again = 0; again < 2; again++) {
      const refused = await other.call("shell_exec", { command: "true" });
      assert.deepEqual([refused.code, /narthex doctor --accept/.test(refused.message)], ["SANDBOX_UNAVAILABLE", true]);
    }
    const doctor = await narthex("doctor", "--json");
    const { unsafe_workspaces: unsafe } = JSON.parse(doctor.stdout) as { unsafe_workspaces: { workspace: string }[] };
    assert.deepEqual([doctor.code, unsafe.map((one) => one.workspace)], [6, [workspace]]);
    assert.equal((await narthex("doctor", "--accept", at.workspace)).code, 4);
    assert.equal((await narthex("doctor", "--accept", workspace, "--by", "ada")).code, 0);
    assert.equal((await other.shell("cat sub/.vscode/tasks.json")).stdout, "attack\n");
    const { stdout: ledger } = await narthex("ledger", "list");
    assert.match(ledger, /NOT put back: `sub\/\.vscode`/);
    assert.match(ledger, new RegExp(`protected paths of ${workspace} accepted as they are by ada`));
  });

  test("is repaired before the next program if that has become possible, also after a job", async (context) => {
    if (!isRoot(context)) return;
    const workspace = await makeWorkspace("mended");
    const session = await at.open(workspace);
    assert.equal((await plant(session, workspace, "shell_spawn")).status, "success");
    const other = await at.open(workspace);
    const ended = async (): Promise<CallAnswer> => {
      for (;;) {
        const answer = await session.call("file_list", { path: "." });
        if (answer.status !== "success") return answer;
      }
    };
    assert.equal((await ended()).code, "SESSION_QUARANTINED");
    assert.equal((await other.call("shell_exec", { command: "true" })).code, "SANDBOX_UNAVAILABLE");
    await at.own(workspace);
    assert.equal((await other.shell("ls -A sub")).stdout, ".git\n");
    assert.deepEqual((await readdir(workspace)).sort(), [".narthex-taken", "go", "sub"]);
  });
});
