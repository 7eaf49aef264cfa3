import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import { openLockDirectory } from "./lock-directory.ts";
import { takeLockFile } from "./lock-file.ts";
import { lockWorkspace as lock } from "./workspace-lock.ts";

let number = 0n;
const fresh = () => ({ device: BigInt(process.pid), inode: ++number });
const signal = new AbortController().signal;

describe("the lock of a workspace", () => {
  const children: ChildProcess[] = [];
  let directory: string;
  const lockWorkspace = (workspace: ReturnType<typeof fresh>, cancel: AbortSignal) =>
    lock(workspace, cancel, () => Promise.resolve(directory));
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "narthex-locks-"));
  });
  after(() => rm(directory, { recursive: true }));
  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
  });

  /** Another kernel that holds it. */
  async function holdElsewhere({ device, inode }: { device: bigint; inode: bigint }): Promise<ChildProcess> {
    const script = `import { lockWorkspace } from ${JSON.stringify(import.meta.resolve("./workspace-lock.ts"))};
      const directory = () => Promise.resolve(${JSON.stringify(directory)});
      await lockWorkspace({ device: ${device}n, inode: ${inode}n }, new AbortController().signal, directory);
      console.log("held");
      setInterval(() => undefined, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(child);
    await once(child.stdout, "data");
    return child;
  }

  it("is shared by all of one process", async () => {
    const workspace = fresh();
    const [first, second] = await Promise.all([lockWorkspace(workspace, signal), lockWorkspace(workspace, signal)]);
    first();
    second();
  });

  it("keeps others waiting until its process ends, however it ends", async () => {
    const workspace = fresh();
    const other = await holdElsewhere(workspace);
    let isOurs = false;
    const waiting = lockWorkspace(workspace, signal).then((letGo) => {
      isOurs = true;
      return letGo;
    });
    await lockWorkspace(fresh(), signal);
    assert.equal(isOurs, false);
    other.kill("SIGKILL");
    (await waiting)();
  });

  it("lets one who is cancelled go, and not those who wait beside it", async () => {
    const workspace = fresh();
    const other = await holdElsewhere(workspace);
    const controller = new AbortController();
    const cancelled = lockWorkspace(workspace, controller.signal);
    const waiting = lockWorkspace(workspace, signal);
    controller.abort();
    await assert.rejects(cancelled, { code: "CANCELLED" });
    other.kill("SIGKILL");
    (await waiting)();
  });

  it("leaves no file behind, and locks nothing by one that was removed meanwhile", () => {
    const first = takeLockFile(directory, "one");
    assert.ok(first !== undefined);
    assert.equal(takeLockFile(directory, "one"), undefined);
    first.release();
    const second = takeLockFile(directory, "one");
    assert.equal(takeLockFile(directory, "one"), undefined);
    second?.release();
  });

  it("lies in a directory of this user's alone; one that others can enter is not used", async () => {
    const [open, closed] = [join(directory, "open"), join(directory, "below/closed")];
    await mkdir(open);
    await chmod(open, 0o755);
    assert.equal(await openLockDirectory([open, closed]), closed);
    assert.equal((await stat(closed)).mode & 0o777, 0o700);
    await assert.rejects(openLockDirectory([open]), { code: "SANDBOX_UNAVAILABLE", message: /open to others/ });
    assert.ok(!(await readdir(directory)).includes("one"));
  });
});
