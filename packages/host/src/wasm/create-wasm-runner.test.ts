import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { type Containment, openContainment } from "../sandbox/open-containment.ts";
import type { ContainedProgram } from "../sandbox/start-contained.ts";
import { type ClosableWasmRunner, createWasmRunner } from "./create-wasm-runner.ts";
import { startWasmHost } from "./start-wasm-host.ts";
import { assertCode, callOf, MODULE, signal } from "./testing/wasm-fixture.ts";

const NOTHING = new Uint8Array(0);

describe("running modules in a sandboxed host", { timeout: 120_000 }, () => {
  let directory: string;
  let containment: Containment;
  let runner: ClosableWasmRunner;
  const started: ContainedProgram[] = [];
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "narthex-wasm-"));
    containment = await openContainment({ directory });
    const start = async (): Promise<ContainedProgram> => {
      const host = await startWasmHost(containment);
      started.push(host);
      return host;
    };
    runner = createWasmRunner({ containment: () => Promise.resolve(containment), start });
  });
  after(async () => {
    await runner.close();
    await containment.close();
    await rm(directory, { recursive: true, force: true });
  });

  const answerTo = async (how: Awaited<ReturnType<ClosableWasmRunner["run"]>>["ending"]): Promise<string> =>
    how.kind === "answered" ? Buffer.from(how.output).toString() : assert.fail(JSON.stringify(how));

  it("asks for what a module asks for, and gives its answer and the fuel it used, the same each time", async () => {
    const asked: number[] = [];
    const fuels = new Set<number>();
    for (let round = 0; round < 20; round++) {
      const { ending, usage } = await runner.run(
        callOf(MODULE),
        ({ code }) => {
          asked.push(code);
          return Promise.resolve(NOTHING);
        },
        signal(),
      );
      assert.equal(await answerTo(ending), "0");
      fuels.add(usage.fuel);
      assert.equal(usage.isPartial, false);
    }
    assert.deepEqual(new Set(asked), new Set([1]));
    assert.equal(fuels.size, 1);
    assert.equal(started.length, 1);
  });

  it("ends a call whose host call is not answered, or that spins, and the host goes on with others", async () => {
    const failing = await runner.run(callOf(MODULE), () => Promise.reject(new Error("no")), signal());
    assert.equal(failing.ending.kind, "stopped");
    // What it had used when it asked is known, and that there may be more.
    const { usage } = await runner.run(callOf(MODULE), () => Promise.resolve(NOTHING), signal());
    assert.ok(failing.usage.fuel > 1000 && failing.usage.fuel <= usage.fuel, String(failing.usage.fuel));
    assert.deepEqual([failing.usage.isPartial, failing.usage.memoryBytes], [true, 65_536]);
    const spins = callOf(MODULE, { input: Buffer.alloc(9, 32), limits: { fuel: 1e12, memoryBytes: 1024 * 1024 } });
    const controller = new AbortController();
    const spinning = runner.run(spins, () => Promise.resolve(NOTHING), controller.signal);
    assert.equal(
      await answerTo((await runner.run(callOf(MODULE), () => Promise.resolve(NOTHING), signal())).ending),
      "0",
    );
    controller.abort();
    const spun = await spinning;
    assert.equal(spun.ending.kind, "stopped");
    assert.deepEqual([spun.usage.fuel, spun.usage.isPartial], [0, true]);
    assert.equal(started.length, 1);
  });

  it("ends a call at what it may use of the processor, and says how much that was", async () => {
    const limits = { fuel: 1e15, memoryBytes: 1024 * 1024, cpuMs: 150 };
    const spins = callOf(MODULE, { input: Buffer.alloc(9, 32), limits });
    const { ending, usage } = await runner.run(spins, () => Promise.resolve(NOTHING), signal());
    assert.deepEqual(ending.kind === "exceeded" && [ending.limit, ending.allowed], ["cpu", 150]);
    assert.ok(usage.cpuMs > 150 && usage.isPartial, JSON.stringify(usage));
  });

  it("forwards any request code of a module, and an unknown code stops no host", async () => {
    // The same module, which asks by -1 where it asks by 1.
    const bytes = Buffer.from(Buffer.from(MODULE).toString("hex").replace("41014100", "417f4100"), "hex");
    const asked: number[] = [];
    const { ending } = await runner.run(
      callOf(Uint8Array.from(bytes)),
      ({ code }) => {
        asked.push(code);
        return Promise.resolve("invalid");
      },
      signal(),
    );
    assert.equal(await answerTo(ending), "0");
    assert.deepEqual(asked, [0xffff_ffff]);
    assert.equal(started.length, 1);
  });

  it("ends a loop exactly where its fuel does", async () => {
    const answer = () => Promise.resolve(NOTHING);
    const { usage } = await runner.run(callOf(MODULE), answer, signal());
    const { fuel } = usage;
    const limited = (most: number) =>
      runner.run(callOf(MODULE, { limits: { fuel: most, memoryBytes: 1024 * 1024 } }), answer, signal());
    assert.equal(await answerTo((await limited(fuel)).ending), "0");
    const { ending } = await limited(fuel - 1);
    assert.deepEqual(ending.kind === "exceeded" && [ending.limit, ending.allowed], ["fuel", fuel - 1]);
  });

  it("sees no network, no file of the host, no workspace and no other process", async () => {
    const pid = (await started[0]?.pid) ?? assert.fail();
    const status = await readFile(`/proc/${pid}/status`, "utf8");
    assert.match(status, /^Seccomp:\s+2$/m);
    assert.match(status, /^CapEff:\s+0+$/m);
    assert.deepEqual((await readdir(`/proc/${pid}/root/opt`)).toSorted(), ["node", "wasm-host"]);
    const root = await readdir(`/proc/${pid}/root`);
    for (const name of ["workspace", "home", "root", "srv", "mnt"]) assert.equal(root.includes(name), false, name);
    assert.deepEqual(await readdir(`/proc/${pid}/root/tmp`), []);
    const net = await readFile(`/proc/${pid}/net/dev`, "utf8");
    assert.deepEqual(
      net.match(/^ *\w+(?=:)/gm)?.map((name) => name.trim()),
      ["lo"],
    );
    const processes = (await readdir(`/proc/${pid}/root/proc`)).filter((name) => /^\d+$/.test(name));
    assert.ok(processes.length <= 2, processes.join(" "));
  });

  it("runs nothing where nothing can be contained", async () => {
    const none = await openContainment({ directory, path: [] });
    const refusing = createWasmRunner({ containment: () => Promise.resolve(none) });
    await assertCode(
      refusing.run(callOf(MODULE), () => Promise.resolve(NOTHING), signal()),
      "SANDBOX_UNAVAILABLE",
    );
    await refusing.close();
  });
});
