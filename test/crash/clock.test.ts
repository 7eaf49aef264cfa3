import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { fromBinary, RecordSchema } from "@narthex/contracts";
import { verifyLedger } from "narthex";
import { CallSource } from "./machines/call-until-failure.ts";
import { createMachineClock, type MachineClock } from "./machines/machine-clock.ts";
import { type MachineKernel, startMachineKernel } from "./machines/machine-kernel.ts";
import { checkHome } from "./rounds/check-home.ts";
import { type CrashHome, createCrashHome } from "./rounds/crash-home.ts";

const SEED = 23;
/** Longer than any session lasts. */
const LONG_HOURS = 10_000;
const HOUR_MS = 3_600_000;

describe("a clock set back", () => {
  let made: CrashHome;
  let at: CrashHome;
  let clock: MachineClock;
  let source: CallSource;
  before(async () => {
    made = await createCrashHome();
  });
  after(() => made.remove());
  beforeEach(async () => {
    at = await made.copy();
    clock = await createMachineClock(at.root);
    source = new CallSource(SEED);
  });
  afterEach(() => at.remove());

  const start = (): Promise<MachineKernel> => startMachineKernel(at, { seed: SEED, env: clock.env });

  it("moves no time back in the ledger of a running kernel, and fails no call", async (t) => {
    t.diagnostic(clock.description);
    const kernel = await start();
    for (const hours of [0, 2, -24, -1000, 1]) {
      await clock.set(hours);
      for (const answer of await kernel.call(...source.take(15))) assert.match(answer, /^success /);
    }
    await kernel.close();
    const found = await checkHome(at, SEED, [...at.answered.keys()]);
    assert.deepEqual(found.problems, []);
    const again = await at.open();
    const [last] = await again.listRecords({ limit: 1, newest: true });
    assert.ok(
      last && Number(fromBinary(RecordSchema, last.record).wallTimeMs) > Date.now() + HOUR_MS,
      "the clock was set",
    );
    await again.close();
  });

  it("revives no expired session, and a new one can be opened", async (t) => {
    t.diagnostic(clock.description);
    const before = await start();
    for (const answer of await before.call(...source.take(5))) assert.match(answer, /^success /);
    await before.close();
    await clock.set(LONG_HOURS);
    const later = await start();
    for (const answer of await later.call(...source.take(5))) assert.equal(answer, "denied SESSION_EXPIRED");
    await later.kill();
    await clock.set(0);
    const back = await start();
    const tools = source.take(5, (tool) => tool !== "artifact_publish");
    for (const answer of await back.call(...tools, ...at.answered.keys()))
      assert.equal(answer, "denied SESSION_EXPIRED");
    await back.close();

    const kernel = await at.open();
    const session = await kernel.session({ workspace: at.workspace });
    assert.equal((await session.call("echo", { after: "all that" })).status, "success");
    assert.deepEqual((await verifyLedger(kernel.ledgerSource())).problems, []);
    await kernel.close();
  });
});
