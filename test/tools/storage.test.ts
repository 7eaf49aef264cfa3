import assert from "node:assert/strict";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createShellKernel, type ShellKernel } from "./shell-kernel.ts";

const MB = 1024 * 1024;

/** Goes on until it is ended: other programs on the same disk can hide what it took at one moment. */
const fill = (path: string): string =>
  `for i in $(seq 600); do head -c 2M /dev/zero > ${path}$i; sleep 0.05; done; echo never`;

describe("programs that fill a disk", { timeout: 240_000 }, () => {
  let at: ShellKernel;
  before(async () => {
    const storage = `storage: { session_bytes: ${3 * MB}, scratch_bytes: ${8 * MB}, cache_bytes: ${4 * MB}, growth_bytes: ${16 * MB} }\n`;
    at = await createShellKernel("sandbox", {}, storage);
  });
  after(() => at.remove());

  it("are killed for what one call adds to the workspace, and the next call is not", async () => {
    const workspace = await at.makeWorkspace();
    const shell = await at.open(workspace);
    const refused = await shell.refused("shell_exec", { command: fill("made") });
    assert.equal(refused.code, "RESOURCE_EXCEEDED");
    assert.match(refused.message, /storage\.growth_bytes: a call may add at most 16 MB to the workspace/);
    assert.equal((await shell.run("ls | wc -l; sleep 0.6")).code, 0);
  });

  it("are killed for deleted files of the workspace that are still open", async () => {
    const workspace = await at.makeWorkspace();
    const shell = await at.open(workspace);
    const command = "exec 3> gone; rm gone; for i in $(seq 600); do head -c 2M /dev/zero >&3; sleep 0.05; done";
    assert.match((await shell.refused("shell_exec", { command })).message, /storage\.growth_bytes/);
    assert.deepEqual(await readdir(workspace), []);
  });

  it("are killed for the content of /scratch and /home/agent, which are below their limits again for the next", async () => {
    const shell = await at.open(await at.makeWorkspace());
    const scratch = await shell.refused("shell_exec", { command: fill("/scratch/made") });
    assert.match(scratch.message, /storage\.scratch_bytes: `\/scratch` may hold at most 8 MB/);
    assert.equal((await shell.run("ls /scratch")).out, "");
    const home = await shell.refused("shell_exec", { command: fill("/home/agent/made") });
    assert.match(home.message, /storage\.cache_bytes: `\/home\/agent` may hold at most 8 MB/);
    assert.equal((await shell.run("du -sm /home/agent | cut -f 1")).out.trim() <= "4", true);
  });

  it("store no more than a session may, over all its calls", async () => {
    const shell = await at.open(await at.makeWorkspace());
    const print = (megabytes: number): string => `head -c ${megabytes}M /dev/zero | tr '\\0' x`;
    assert.equal((await shell.run(print(2))).code, 0);
    const refused = await shell.refused("shell_exec", { command: print(2) });
    assert.equal(refused.code, "RESOURCE_EXCEEDED");
    assert.match(refused.message, /stored bytes/);
    const limited = await at.open(await at.makeWorkspace(), { budgets: { stored_bytes: 2.5 * MB } });
    assert.equal((await limited.run(print(2))).code, 0);
    const facts = await at.kernel.getSession(limited.session.id);
    assert.ok((facts?.budgetRemaining.stored_bytes ?? MB) < 0.5 * MB, JSON.stringify(facts?.budgetRemaining));
  });

  it("and writes are denied below a disk's reserve, while everything else continues and is recorded", async () => {
    const low = await createShellKernel(
      "sandbox",
      {},
      `storage: { reserve_bytes: ${Number.MAX_SAFE_INTEGER}, reserve_percent: 100 }\n`,
    );
    try {
      const shell = await low.open();
      await mkdir(join(low.workspace, "empty"));
      const before = low.kernel.recordCount();
      for (const [tool, input] of [
        ["shell_exec", { command: "true" }],
        ["shell_spawn", { command: "true" }],
        ["file_write", { path: "a", content: "x" }],
      ] as const) {
        const refused = await shell.refused(tool, input);
        assert.equal(refused.code, "RESOURCE_EXCEEDED", tool);
        assert.match(refused.message, /has \d+ MB free, and \d+ MB must stay free \(`storage\.reserve_bytes`/);
      }
      for (const [tool, input] of [
        ["file_list", { path: "." }],
        ["file_delete", { path: "empty" }],
      ] as const) {
        assert.equal((await shell.session.call(tool, input)).response.result.case, "success", tool);
      }
      assert.ok(low.kernel.recordCount() >= before + 5);
    } finally {
      await low.remove();
    }
  });
});
