import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { createKernel } from "../doors/socket-kernel.ts";
import { CallSource } from "./machines/call-until-failure.ts";
import { type MachineKernel, Refusal, startMachineKernel } from "./machines/machine-kernel.ts";
import { checkHome } from "./rounds/check-home.ts";
import { type CrashHome, createCrashHome } from "./rounds/crash-home.ts";

const SEED = 17;

describe("a second kernel on the same home", () => {
  let made: CrashHome;
  let at: CrashHome;
  let source: CallSource;
  let first: MachineKernel;
  before(async () => {
    made = await createCrashHome();
  });
  after(() => made.remove());
  beforeEach(async () => {
    at = await made.copy();
    source = new CallSource(SEED);
    first = await startMachineKernel(at, { seed: SEED });
  });
  afterEach(() => at.remove());

  const assertNothingLost = async (): Promise<void> => {
    const found = await checkHome(at, SEED, [...at.answered.keys()]);
    assert.deepEqual(found.problems, []);
  };

  it("is rejected with the holder's name, in any process, and the first one continues", async () => {
    const running = first.call(...source.take(40));
    const held = new RegExp(`^HOME_BUSY: .*process ${first.pid}\\b`);
    await assert.rejects(
      startMachineKernel(at, { seed: SEED }),
      (fault) => fault instanceof Refusal && held.test(fault.message),
    );
    await assert.rejects(createKernel({ data: at.home }), { code: "HOME_BUSY" });
    for (const answer of await running) assert.match(answer, /^success /);
    for (const answer of await first.call(...source.take(10))) assert.match(answer, /^success /);
    await first.close();
    await assertNothingLost();
  });

  it("whose lock and sockets were removed cannot fork the ledger: one of the two stops, and no response is lost", async () => {
    at.failsToStore = true;
    await first.call(...source.take(10));
    // Whoever removes the lock alone is still told by the sockets, which somebody answers on.
    for (const name of ["lock.db", "framed.sock", "services.sock"]) await rm(join(at.home, "run", name));
    const second = await startMachineKernel(at, { seed: SEED });
    const answers = (await Promise.all([first, second].map((kernel) => kernel.call(...source.take(30))))).flat();
    const refused = answers.filter((answer) => !answer.startsWith("success "));
    assert.ok(refused.length > 0, "both wrote on");
    for (const answer of refused) assert.match(answer, /^error (?:STORE_UNAVAILABLE|OUTCOME_UNKNOWN)$/);
    await Promise.all([first.kill(), second.kill()]);
    await assertNothingLost();
  });
});
