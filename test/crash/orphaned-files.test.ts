import assert from "node:assert/strict";
import { mkdir, readdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { createKernel } from "../doors/socket-kernel.ts";
import { CallSource } from "./machines/call-until-failure.ts";
import { startMachineKernel } from "./machines/machine-kernel.ts";
import { type CrashHome, createCrashHome } from "./rounds/crash-home.ts";

const SEED = 29;
/** As the file that was being written, the process, and something random. */
const DRAFT = "holder.json.4711.0b0e7a3c-7d3f-4c8e-9d55-1f2a3b4c5d6e";

describe("files left by killed kernels", () => {
  let made: CrashHome;
  let at: CrashHome;
  before(async () => {
    made = await createCrashHome();
  });
  after(() => made.remove());
  beforeEach(async () => {
    at = await made.copy();
  });
  afterEach(() => at.remove());

  it("with a home path too long for sockets are one directory for sockets and one for pipes, reused and finally removed", async () => {
    const temporary = join(at.root, "tmp");
    await mkdir(temporary);
    const long = { ...at, home: join(at.root, "x".repeat(120)) };
    await rename(at.home, long.home);
    const start = () => startMachineKernel(long, { seed: SEED, env: { TMPDIR: temporary } });
    for (let time = 0; time < 2; time++) {
      await (await start()).kill();
      // And one for the pipes of programs.
      assert.equal((await readdir(temporary)).length, 2);
    }
    await (await start()).close();
    assert.deepEqual(await readdir(temporary), []);
  });

  it("are removed at the next start: drafts, unfinished content, sockets", async () => {
    const kernel = await startMachineKernel(at, { seed: SEED });
    await kernel.call(...new CallSource(SEED).take(10));
    await kernel.kill();
    await writeFile(join(at.home, "run", DRAFT), "{");
    await writeFile(join(at.home, "content", "tmp", "half"), "hal");
    const next = await createKernel({ data: at.home });
    assert.ok(!(await readdir(join(at.home, "run"))).includes(DRAFT));
    assert.deepEqual(await readdir(join(at.home, "content", "tmp")), []);
    await next.close();
    assert.deepEqual((await readdir(join(at.home, "run"))).sort(), [
      "admin.token",
      "approve.token",
      "lock.db",
      "read.token",
    ]);
  });

  it("are not taken from the next holder by closing twice", async () => {
    const first = await createKernel({ data: at.home });
    await first.close();
    const second = await createKernel({ data: at.home });
    await first.close();
    const { holder } = second.home.paths;
    assert.ok((await readdir(join(at.home, "run"))).some((name) => holder.endsWith(name)));
    await assert.rejects(createKernel({ data: at.home }), { code: "HOME_BUSY" });
    await second.close();
  });
});
