import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { createKernel } from "narthex";
import { createShellKernel, type ShellKernel } from "../tools/shell-kernel.ts";

const isRoot = process.getuid?.() === 0;
const OWNER = isRoot ? 1000 : process.getuid?.();
const VICTIM_FILES = 20;
const SWAPPED = 150;

/** Exchanges directories for links to the victim as fast as it can, until it is killed. */
const SWAPPER = `
import ctypes, os, sys
where, victim, count, files = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
os.chdir(where)
for i in range(count):
    if not os.path.lexists('d%d' % i):
        os.mkdir('d%d' % i)
        for j in range(files): open('d%d/f%d' % (i, j), 'w').close()
    os.symlink(victim, 'l%d' % i)
exchange = ctypes.CDLL(None).renameat2
pairs = [(b'd%d' % i, b'l%d' % i) for i in range(count)]
print('ready', flush=True)
while True:
    for one, other in pairs: exchange(-100, one, -100, other, 2)
`;

describe("another user who swaps directories for links while a kernel works there", { timeout: 120_000 }, () => {
  let at: ShellKernel;
  let victim: string;
  const children: ChildProcess[] = [];
  before(async () => {
    at = await createShellKernel("sandbox");
    // Only root can enter it.
    victim = await mkdtemp(join(tmpdir(), "narthex-victim-"));
    for (let i = 0; i < VICTIM_FILES; i++) await writeFile(join(victim, `f${i}`), "");
  });
  after(async () => {
    stopAll();
    await at.remove();
    await rm(victim, { recursive: true });
  });

  function stopAll(): void {
    for (const child of children.splice(0)) child.kill("SIGKILL");
  }

  async function swapIn(directory: string, files: number): Promise<void> {
    const words = ["-c", SWAPPER, directory, victim, String(SWAPPED), String(files)];
    const identity = isRoot ? { uid: OWNER ?? 0, gid: OWNER ?? 0 } : {};
    const child = spawn("/usr/bin/python3", words, { stdio: ["ignore", "pipe", "inherit"], ...identity });
    children.push(child);
    await once(child.stdout, "data");
  }

  async function assertVictimWhole(): Promise<void> {
    assert.equal((await readdir(victim)).length, VICTIM_FILES);
    for (const name of ["", "f0", `f${VICTIM_FILES - 1}`]) {
      assert.equal((await stat(join(victim, name))).uid, process.getuid?.());
    }
  }

  it("cannot make adopting a workspace hand over a file through a swapped link", async (context) => {
    if (!isRoot) return context.diagnostic("not root: there is nothing to adopt");
    const workspace = join(at.root, "adopted");
    const shared = join(workspace, "shared");
    await mkdir(shared, { recursive: true });
    for (let i = 0; i < SWAPPED; i++) {
      await mkdir(join(shared, `d${i}`));
      await writeFile(join(shared, `d${i}/f0`), "");
    }
    await chmod(shared, 0o777);
    await swapIn(shared, 0);
    await at.kernel.session({ workspace, adopt: true });
    stopAll();
    await assertVictimWhole();
    assert.notEqual((await stat(shared)).uid, 0);
  });

  it("cannot stop a workspace's programs by claiming a predictable name", async () => {
    const { dev, ino } = await stat(at.workspace);
    const squatter = `
import socket, time
held = socket.socket(socket.AF_UNIX)
held.bind('\\0narthex-workspace-${dev}-${ino}')
held.listen(1)
print('ready', flush=True)
time.sleep(600)
`;
    const child = spawn("/usr/bin/python3", ["-c", squatter], { stdio: ["ignore", "pipe", "inherit"] });
    children.push(child);
    await once(child.stdout, "data");
    const shell = await at.open();
    assert.equal((await shell.run("echo ran")).out, "ran\n");
    stopAll();
  });

  it("cannot make the removal of a session's scratch directory delete anything outside of it", async () => {
    const shell = await at.open();
    const lasting = await at.open();
    const find = "grep ' /scratch ' /proc/self/mountinfo | cut -d' ' -f4 | tee /scratch/found";
    const scratch = (await shell.run(find)).out.trim();
    const kept = (await lasting.run(find)).out.trim();
    await swapIn(scratch, 4);
    await at.kernel.closeSession(shell.session.id);
    await assertVictimWhole();
    stopAll();
    // What the exchange kept from being removed goes when the next kernel starts.
    await at.close();
    const next = await createKernel({ data: join(at.root, "home") });
    while ((await stat(scratch).catch(() => undefined)) !== undefined) await setTimeout(20);
    assert.match(await readFile(join(kept, "found"), "utf8"), /scratch-/);
    await next.close({ graceMs: 0 });
  });
});
