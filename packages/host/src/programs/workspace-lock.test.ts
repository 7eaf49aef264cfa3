import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, it } from "node:test";
import { lockWorkspace } from "./workspace-lock.ts";

let number = 0n;
const fresh = () => ({ device: BigInt(process.pid), inode: ++number });
const signal = new AbortController().signal;

describe("the lock of a workspace", () => {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
  });

  /** Another kernel that holds it. */
  async function holdElsewhere({ device, inode }: { device: bigint; inode: bigint }): Promise<ChildProcess> {
    const script = `import { lockWorkspace } from ${JSON.stringify(import.meta.resolve("./workspace-lock.ts"))};
      await lockWorkspace({ device: ${device}n, inode: ${inode}n }, new AbortController().signal);
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
});
