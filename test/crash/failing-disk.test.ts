import assert from "node:assert/strict";
import { constants } from "node:os";
import { after, afterEach, before, beforeEach, describe, it, type TestContext } from "node:test";
import { assertStopped, CallSource, callUntilFailure } from "./machines/call-until-failure.ts";
import { createFaultInjection, type FaultInjection, type FaultPoint } from "./machines/fault-injection.ts";
import { type MachineKernel, Refusal, startMachineKernel } from "./machines/machine-kernel.ts";
import { checkHome } from "./rounds/check-home.ts";
import { type CrashHome, createCrashHome } from "./rounds/crash-home.ts";

const { EIO, ENOSPC, EROFS } = constants.errno;
const SYNC: readonly FaultPoint[] = ["posix/io/sync/fsync", "posix/io/sync/fdatasync"];
const WRITE: readonly FaultPoint[] = ["posix/io/rw/pwrite"];
const SEED = 31;

describe("a failing disk", () => {
  let made: CrashHome;
  let at: CrashHome;
  let faults: FaultInjection;
  let source: CallSource;
  before(async () => {
    made = await createCrashHome();
  });
  after(() => made.remove());
  beforeEach(async () => {
    at = await made.copy();
    at.failsToStore = true;
    faults = createFaultInjection(at.root);
    source = new CallSource(SEED);
  });
  afterEach(() => at.remove());

  const start = (): Promise<MachineKernel> => startMachineKernel(at, { seed: SEED, under: faults.under });

  /** All is as it must be on a sound disk: what was answered is there, and nothing happened twice. */
  async function assertNothingLost(t: TestContext): Promise<void> {
    t.diagnostic(faults.description);
    const found = await checkHome(at, SEED, [...at.answered.keys()]);
    assert.deepEqual(found.problems, []);
    t.diagnostic(
      `${found.repeated} answers kept; of the others ${found.absent} absent, ${found.recorded} recorded, ${found.unknown} unknown`,
    );
  }

  for (const [name, points, errno] of [
    ["a failed fsync is never followed by an answer, nor by an effect, even after the disk has recovered", SYNC, EIO],
    ["a failed write stops the kernel, and nothing that was answered is lost", WRITE, EIO],
    ["a full disk stops the kernel before any effect, and it starts again once there is room", WRITE, ENOSPC],
    ["a disk that turns read-only stops the kernel before any effect", WRITE, EROFS],
  ] as const) {
    it(name, async (t) => {
      const kernel = await start();
      for (const answer of await kernel.call(...source.take(20))) assert.match(answer, /^success /);
      await faults.fail(kernel.pid, points, { errno });
      await callUntilFailure(kernel, source);
      await assertStopped(at, kernel, source);
      await faults.heal(kernel.pid, points);
      await assertStopped(at, kernel, source);
      await kernel.close();
      await assertNothingLost(t);
    });
  }

  it("occasional failed writes, over several starts, lose no response and repeat no effect", async (t) => {
    for (const points of [WRITE, SYNC, WRITE]) {
      // Where files have a limit, the next start may reach it.
      const kernel = await start().catch(assertRefusal);
      if (kernel === undefined) continue;
      await faults.fail(kernel.pid, points, { errno: EIO, chance: 0.03 });
      await callUntilFailure(kernel, source);
      await kernel.kill();
    }
    await assertNothingLost(t);
  });

  it("partial writes are completed", async (t) => {
    const kernel = await start();
    await faults.fail(kernel.pid, ["posix/io/rw/pwrite/reduce"], { errno: 0, chance: 0.5 });
    for (const answer of await kernel.call(...source.take(60))) assert.match(answer, /^success /);
    await kernel.close();
    await assertNothingLost(t);
  });
});

function assertRefusal(fault: unknown): undefined {
  assert.ok(fault instanceof Refusal && fault.message.startsWith("STORE_UNAVAILABLE: "), String(fault));
  return undefined;
}
