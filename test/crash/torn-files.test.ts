import assert from "node:assert/strict";
import { appendFile, cp, open, readdir, readFile, rm, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { isKernelError, verifyLedger } from "narthex";
import { createKernel, type SocketKernel } from "../doors/socket-kernel.ts";
import { CallSource } from "./machines/call-until-failure.ts";
import { startMachineKernel } from "./machines/machine-kernel.ts";
import { type CrashHome, createCrashHome } from "./rounds/crash-home.ts";
import { callOf } from "./rounds/load-call.ts";
import { createLoadTools, readEffects } from "./rounds/load-tools.ts";
import { makeCall } from "./rounds/make-call.ts";

const SEED = 11;

type Damage = (store: string) => Promise<void>;

const records = (store: string): string => join(store, "records.db");
const log = (store: string): string => join(store, "records.db-wal");

/** After a kill, these leave nothing to start on. */
const FATAL: readonly (readonly [name: string, damage: Damage])[] = [
  ["an emptied file of records", (store) => truncate(records(store), 0)],
  ["a removed file of records", (store) => rm(records(store))],
  [
    "an emptied file of records with an emptied log",
    async (store) => {
      await truncate(records(store), 0);
      await truncate(log(store), 0);
    },
  ],
];

/** These cost nothing: what they hit was never answered, or can be made again. */
const HARMLESS: readonly (readonly [name: string, damage: Damage])[] = [
  ["nothing at all", () => Promise.resolve()],
  ["a torn last record", async (store) => appendFile(log(store), (await readFile(log(store))).subarray(32, 5000))],
  ["a spoiled index of the log", (store) => spoil(join(store, "records.db-shm"), 0)],
  ["a removed index of the records", (store) => rm(join(store, "index.db"))],
];

/** These are survived if what they hit lies elsewhere too, which depends on how far the log was moved. */
const PARTIAL: readonly (readonly [name: string, damage: Damage])[] = [
  ["a log with garbage in its middle", (store) => spoil(log(store), 0.5)],
  ["a log cut in half", (store) => cut(log(store), 0.5)],
  ["a removed log", (store) => rm(log(store))],
  ["an emptied log", (store) => truncate(log(store), 0)],
  ["a log with a spoiled beginning", (store) => spoil(log(store), 0)],
  ["a file of records cut in half", (store) => cut(records(store), 0.5)],
  ["a file of records with garbage in its middle", (store) => spoil(records(store), 0.5)],
];

describe("a killed kernel's store with torn files", () => {
  let at: CrashHome;
  let home: string;
  before(async () => {
    at = await createCrashHome();
    const source = new CallSource(SEED);
    const kernel = await startMachineKernel(at, { seed: SEED });
    for (let batch = 0; batch < 3; batch++) await kernel.call(...source.take(30));
    await kernel.kill();
    home = join(at.root, "damaged");
  });
  after(() => at.remove());

  async function damageCopy(damage: Damage): Promise<void> {
    await rm(home, { recursive: true, force: true });
    await cp(at.home, home, { recursive: true, filter: (path) => !path.endsWith(".sock") });
    await damage(join(home, "store"));
  }
  const start = (): Promise<SocketKernel> => createKernel({ data: home, ...createLoadTools({ effects: at.effects }) });
  const isNamed = (fault: unknown): boolean =>
    isKernelError(fault) && fault.code === "STORE_UNAVAILABLE" && fault.message.includes(`${home}/store`);

  for (const [name, damage] of HARMLESS) {
    it(`${name} is ignored, and every response is there`, async () => {
      await damageCopy(damage);
      assert.deepEqual(await askAll(start, at), { lost: 0, isSound: true });
    });
  }

  it("an older copy of the records, restored alone, is reported and not continued", async () => {
    await damageCopy(() => Promise.resolve());
    const older = join(at.root, "older.db");
    await (await start()).close();
    await cp(records(join(home, "store")), older);
    const kernel = await start();
    const session = await kernel.session({ workspace: at.workspace });
    assert.equal((await session.call("echo", "later")).status, "success");
    await kernel.close();
    await cp(older, records(join(home, "store")));
    await assert.rejects(
      start(),
      (fault) => isNamed(fault) && /has lost records: \d+ were counted/.test(String(fault)),
    );
  });

  for (const [name, damage] of FATAL) {
    it(`${name} is reported at every start, and not replaced`, async () => {
      await damageCopy(damage);
      const before = await snapshot(home);
      await assert.rejects(start(), isNamed);
      await assert.rejects(start(), isNamed);
      assert.deepEqual(await snapshot(home), before);
    });
  }

  for (const [name, damage] of PARTIAL) {
    it(`${name} loses no response silently, and repeats no effect`, async (t) => {
      await damageCopy(damage);
      const effects = await readEffects(at.effects);
      const before = await snapshot(home);
      try {
        const { lost, isSound } = await askAll(start, at);
        t.diagnostic(`it starts: ${lost} answers lost, the ledger is ${isSound ? "sound" : "not sound"}`);
        assert.ok(lost === 0 || !isSound);
      } catch (fault) {
        if (!isKernelError(fault)) throw fault;
        t.diagnostic(`it does not start: ${fault.message.replaceAll(home, "HOME")}`);
        assert.ok(isNamed(fault), fault.message);
        // What tells of the loss is still there for the next one.
        if (/has lost records/.test(fault.message)) assert.deepEqual(await snapshot(home), before);
      }
      assert.deepEqual(await readEffects(at.effects), effects);
    });
  }
});

/** Asks for every answer again. One that is not given must be refused: another one would be a lie. */
async function askAll(
  start: () => Promise<SocketKernel>,
  at: CrashHome,
): Promise<{ readonly lost: number; readonly isSound: boolean }> {
  const kernel = await start();
  try {
    const { problems } = await verifyLedger(kernel.ledgerSource());
    let lost = 0;
    for (const [requestId, answer] of at.answered) {
      const again = await makeCall(kernel, at.sessions, callOf(SEED, requestId));
      if (again === answer) continue;
      assert.match(again, /^error (?:STORE_UNAVAILABLE|INTERNAL)$/, `${requestId}: ${again}, and it was ${answer}`);
      lost++;
    }
    return { lost, isSound: problems.length === 0 };
  } finally {
    await kernel.close();
  }
}

async function spoil(path: string, where: number): Promise<void> {
  const file = await open(path, "r+");
  const { size } = await file.stat();
  await file.write(Buffer.alloc(Math.min(size, 4096), 0xa5), 0, null, Math.floor(size * where));
  await file.close();
}

async function cut(path: string, share: number): Promise<void> {
  await truncate(path, Math.floor((await stat(path)).size * share));
}

/** Name and bytes of every file of the store. */
async function snapshot(home: string): Promise<Map<string, string>> {
  const store = join(home, "store");
  const names = (await readdir(store)).sort();
  return new Map(await Promise.all(names.map(async (name) => [name, await digestOf(join(store, name))] as const)));
}

async function digestOf(path: string): Promise<string> {
  const bytes = await readFile(path);
  return `${bytes.length} ${Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("hex")}`;
}
