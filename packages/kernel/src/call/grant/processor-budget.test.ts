import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createTestKernel, type TestKernel, type TestSession } from "@narthex/testkit";
import type { KernelOptions } from "../../kernel-options.ts";
import { codeOf, delegate } from "../../session/testing/delegated-session.ts";
import { verifyStore } from "../../testing/verify-store.ts";
import { defineTool } from "../../tool/define-tool.ts";
import type { Narrowing, ProgramRequest, Tool } from "../../tool/tool.ts";
import { errorOf } from "../invoke/testing/hostile-tool.ts";
import { type Script, scriptPrograms } from "./testing/scripted-programs.ts";
import { scriptShells } from "./testing/scripted-shells.ts";

interface RunnerOptions {
  /** How many programs a call runs, one after the other. */
  readonly programs?: number;
  readonly atOnce?: boolean;
  readonly request?: Partial<ProgramRequest>;
  readonly maxCpuMs?: number;
  readonly timeoutMs?: number;
  /** Its calls can be given up. */
  readonly isReadOnly?: boolean;
  narrow?(): Narrowing;
}

/** Says which limits its programs ran into. */
function runner(options: RunnerOptions): Tool {
  const { programs = 1, atOnce = false, request = {}, maxCpuMs, timeoutMs = 60_000, narrow } = options;
  const bounds = { timeoutMs, maxOutputBytes: 1000, ...(maxCpuMs !== undefined && { maxCpuMs }) };
  const effect = { effects: ["fs_write"], capabilities: [{ kind: "fs_write", prefixes: [] }] } as const;
  return defineTool({
    name: "runner",
    description: "Runs programs.",
    source: "builtin",
    isolation: "process",
    inputSchema: true,
    ...(options.isReadOnly === true ? { tier: "read_only" } : { tier: "side_effecting", ...effect }),
    bounds,
    ...(narrow !== undefined && { narrow }),
    async run(_, context) {
      const run = () => context.programs.run({ command: ["program"], workingDirectory: ".", ...request });
      const results = [];
      if (atOnce) results.push(...(await Promise.all(Array.from({ length: programs }, run))));
      else for (let n = 0; n < programs; n++) results.push(await run());
      return results.map(({ exceeded }) => (exceeded === undefined ? "ended" : { ...exceeded }));
    },
  });
}

const spawner = defineTool({
  name: "spawner",
  description: "Starts a job.",
  source: "builtin",
  isolation: "process",
  inputSchema: true,
  tier: "side_effecting",
  effects: ["process_spawn"],
  capabilities: [{ kind: "exec", names: [] }],
  run: async (_, { shell }) => (await shell.spawn({ command: "go on", workingDirectory: ".", environment: {} })).id,
});

/** Starts two jobs and a program. */
const busy = defineTool({
  ...spawner,
  inputSchema: true,
  name: "busy",
  async run(_, { shell, programs }) {
    const job = { command: "go on", workingDirectory: ".", environment: {} };
    await shell.spawn(job);
    await shell.spawn(job);
    await programs.run({ command: ["program"], workingDirectory: "." });
    return 0;
  },
});

const left = async ({ kernel }: TestKernel, { id }: TestSession): Promise<number | undefined> =>
  (await kernel.getSession(id))?.budgetRemaining.cpu_ms;

/** What the ledger says that each call of a session spent. */
async function spentBy(at: TestKernel, { id }: TestSession): Promise<number[]> {
  const kinds = (await at.records(id)).flatMap(({ entries }) => entries.map(({ kind }) => kind));
  return kinds.flatMap(({ value }) =>
    value !== undefined && "spent" in value
      ? [Number(value.spent.find(({ dimension }) => dimension === "cpu_ms")?.amount ?? 0)]
      : [],
  );
}

async function open(tool: RunnerOptions, script: Script, cpuMs?: number, options: Pick<KernelOptions, "shells"> = {}) {
  const programs = scriptPrograms(script);
  const at = await createTestKernel({ tools: [runner(tool), spawner, busy], programs, ...options });
  const session = await at.open(cpuMs === undefined ? {} : { lease: { budgets: { cpu_ms: cpuMs } } });
  return { at, session, programs };
}

describe("a budget of processor time", () => {
  it("of zero refuses only calls that would run a program", async () => {
    const { session, programs } = await open({}, {}, 0);
    const { result } = (await session.call("runner", 1)).response;
    assert.ok(result.case === "denied" && result.value.rationaleCode === "BUDGET_EXCEEDED");
    assert.match(result.value.message, /the budget of cpu_ms has 0 left/);
    assert.equal(programs.places.length, 0);
    const quiet = await open({ narrow: () => ({ maxCpuMs: 0 }), programs: 0 }, {}, 0);
    assert.equal((await quiet.session.call("runner", 1)).status, "success");
  });

  it("is not reserved by a call that declares to run no program", async () => {
    for (const cpuMs of [undefined, 1000]) {
      const { session, programs } = await open({ narrow: () => ({ maxCpuMs: 0 }) }, {}, cpuMs);
      const error = errorOf(await session.call("runner", 1));
      assert.deepEqual(
        [error.errorCode, error.message],
        ["RESOURCE_EXCEEDED", "cpu: at most 0 ms, and it came to 0 ms"],
      );
      assert.equal(programs.places.length, 0);
    }
  });

  it("cannot be widened by narrowing", async () => {
    for (const maxCpuMs of [-1, 0.5, Number.NaN]) {
      const { session, programs } = await open({ maxCpuMs: 100, narrow: () => ({ maxCpuMs }) }, {});
      assert.equal(errorOf(await session.call("runner", 1)).errorCode, "INTERNAL", String(maxCpuMs));
      assert.equal(programs.places.length, 0);
    }
    const { session, programs } = await open({ maxCpuMs: 100, narrow: () => ({ maxCpuMs: 101 }) }, {});
    const { result } = (await session.call("runner", 1)).response;
    assert.equal(result.case === "denied" && result.value.rationaleCode, "BOUNDS_EXCEEDED");
    assert.equal(programs.places.length, 0);
  });

  it("is charged with the time used by the programs of a call, and the ledger records it", async () => {
    const { at, session } = await open({ programs: 3 }, { looks: [20, 70] }, 1000);
    await session.call("runner", 1);
    await session.call("runner", 2);
    assert.equal(await left(at, session), 1000 - 2 * 3 * 70);
    assert.deepEqual(await spentBy(at, session), [210, 210]);
    await verifyStore(at.store);
  });

  it("has its usage recorded in the ledger even without a limit", async () => {
    const { at, session, programs } = await open({}, { looks: [33] });
    await session.call("runner", 1);
    assert.deepEqual(await spentBy(at, session), [33]);
    assert.equal(programs.places[0]?.cpu, undefined);
  });

  it("ends a program at the lowest of remaining budget, bound and its own limit, and reports limit and peak", async () => {
    const cases = [
      [{ maxCpuMs: 500 }, 1000, 500],
      [{ maxCpuMs: 500 }, 300, 300],
      [{}, 300, 300],
      [{ request: { limits: { cpuMs: 100 } } }, 300, 100],
      [{ request: { limits: { cpuMs: 900 } } }, 300, 300],
      [{ maxCpuMs: 500 }, undefined, 500],
    ] as const;
    for (const [tool, budget, allowed] of cases) {
      const { session, programs } = await open(tool, { looks: [90, allowed, allowed + 40, 9999] }, budget);
      const result = await session.call("runner", 1);
      assert.deepEqual(result.raw, [{ limit: "cpu", allowed, peak: allowed + 40 }], JSON.stringify(tool));
      assert.equal(programs.places[0]?.cpu?.limitMs, allowed);
    }
  });

  it("is reported exactly, not rounded to the seconds of the operating system", async () => {
    const exceeded = { limit: "cpu", allowed: 2000, peak: 2000 } as const;
    const { session } = await open({}, { end: { exceeded, cpuMs: 2013 } }, 1500);
    assert.deepEqual((await session.call("runner", 1)).raw, [{ limit: "cpu", allowed: 1500, peak: 2013 }]);
  });

  it("leaves nothing for the next call once overspent", async () => {
    const { at, session } = await open({}, { looks: [99, 140] }, 100);
    assert.equal((await session.call("runner", 1)).status, "success");
    assert.equal(await left(at, session), 0);
    assert.deepEqual(await spentBy(at, session), [140]);
    assert.equal(codeOf(await session.call("runner", 2)), "BUDGET_EXCEEDED");
  });

  it("is shared by the programs of one call: no more are started once it is used up", async () => {
    const { session, programs } = await open({ programs: 5 }, { looks: [60] }, 100);
    const error = errorOf(await session.call("runner", 1));
    assert.deepEqual(
      [error.errorCode, error.message],
      ["RESOURCE_EXCEEDED", "cpu: at most 100 ms, and it came to 120 ms"],
    );
    assert.deepEqual(
      programs.places.map(({ cpu }) => cpu?.limitMs),
      [100, 40],
    );
  });

  it("is shared by concurrent programs: each check counts the others too", async () => {
    const { session } = await open({ programs: 2, atOnce: true }, { looks: [60] }, 100);
    assert.deepEqual((await session.call("runner", 1)).raw, ["ended", { limit: "cpu", allowed: 100, peak: 120 }]);
  });

  it("is charged for the programs of a call that failed, was cancelled or whose sandbox broke", async () => {
    const late = await open({ timeoutMs: 20 }, { isEndless: true, end: { cpuMs: 70 } }, 1000);
    assert.equal(codeOf(await late.session.call("runner", 1)), "TIMEOUT");
    assert.deepEqual(await spentBy(late.at, late.session), [70]);
    const changed = await open({}, { end: { cpuMs: 50, putBack: [".git"] } }, 1000);
    assert.equal(codeOf(await changed.session.call("runner", 1)), "UNDECLARED_EFFECT");
    assert.deepEqual(await spentBy(changed.at, changed.session), [50]);
    const broken = scriptPrograms({});
    const at = await createTestKernel({
      tools: [runner({})],
      programs: {
        ...broken,
        async start(place, program, signal) {
          place.cpu?.check(45);
          return { ...(await broken.start(place, program, signal)), ended: Promise.reject(new Error("broken")) };
        },
      },
    });
    const session = await at.open({ lease: { budgets: { cpu_ms: 1000 } } });
    assert.equal(codeOf(await session.call("runner", 1)), "EXECUTION_FAILED");
    assert.equal(await left(at, session), 955);
  });

  it("is reserved whole by a call without a bound: a concurrent second call is refused, and a later one is not", async () => {
    const { at, session, programs } = await open({ isReadOnly: true }, { isEndless: true, end: { cpuMs: 10 } }, 1000);
    const stop = new AbortController();
    const first = session.call("runner", 1, { signal: stop.signal });
    while (programs.places.length === 0) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(await left(at, session), 0);
    assert.equal(codeOf(await session.call("runner", 2)), "BUDGET_EXCEEDED");
    stop.abort();
    await first;
    assert.equal(await left(at, session), 990);
    assert.equal(codeOf(await session.call("runner", 3, { signal: AbortSignal.timeout(20) })), "CANCELLED");
    assert.equal(await left(at, session), 980);
  });

  it("is overspent by twenty concurrent calls only by the time used between two checks", async () => {
    const [limit, bound, tooLate] = [1000, 150, 30];
    const { at, session, programs } = await open({ maxCpuMs: bound }, { looks: [bound, bound + tooLate] }, limit);
    const results = await Promise.all(Array.from({ length: 20 }, (_, n) => session.call("runner", n)));
    const ran = results.filter((result) => codeOf(result) === "success").length;
    assert.equal(results.filter((result) => codeOf(result) === "BUDGET_EXCEEDED").length, 20 - ran);
    // Six whole bounds, and a seventh call with what was left.
    const given = programs.places.map(({ cpu }) => cpu?.limitMs ?? Number.NaN);
    assert.deepEqual(
      given.toSorted((one, other) => one - other),
      [100, ...Array.from({ length: 6 }, () => bound)],
    );
    const spent = (await spentBy(at, session)).reduce((sum, ms) => sum + ms, 0);
    assert.ok(spent <= limit + given.length * (bound - 100 + tooLate), `${spent} ms`);
    assert.equal(await left(at, session), 0);
    assert.equal(codeOf(await session.call("runner", "after")), "BUDGET_EXCEEDED");
  });
});

describe("a job under a budget of processor time", () => {
  it("keeps its possible use reserved until it has ended, and is then charged to the session", async () => {
    const shells = scriptShells();
    const { at, session } = await open({}, {}, 1000, { shells });
    assert.equal((await session.call("spawner", 1)).status, "success");
    assert.equal(shells.places[0]?.cpu?.limitMs, 1000);
    assert.deepEqual(await spentBy(at, session), [0]);
    assert.equal(await left(at, session), 0);
    assert.equal(codeOf(await session.call("spawner", 2)), "BUDGET_EXCEEDED");
    assert.deepEqual(shells.places[0]?.cpu?.check(1001), { limit: "cpu", allowed: 1000, peak: 1001 });
    await shells.endJob(0, 300);
    assert.equal(await left(at, session), 700);
    await session.call("spawner", 3);
    assert.equal(shells.places[1]?.cpu?.limitMs, 700);
  });

  it("is charged without a limit too, and reserves nothing", async () => {
    const shells = scriptShells();
    const { at, session } = await open({}, { looks: [5] }, undefined, { shells });
    await session.call("spawner", 1);
    await shells.endJob(0, 300);
    await session.call("runner", 2);
    const usage = await at.store.getState("sessions", `${session.id}/usage`);
    assert.deepEqual(JSON.parse(Buffer.from(usage ?? []).toString()).spent.cpu_ms, 305);
  });

  it("leaves nothing of the call's limited time to programs that the call starts after it", async () => {
    const free = scriptShells();
    const unlimited = await open({}, {}, undefined, { shells: free });
    assert.equal((await unlimited.session.call("busy", 1)).status, "success");
    const given = [...free.places, ...unlimited.programs.places].map(({ cpu }) => cpu);
    assert.deepEqual(given, [undefined, undefined, undefined]);
    const shells = scriptShells();
    const { session, programs } = await open({}, {}, 1000, { shells });
    assert.equal(errorOf(await session.call("busy", 1)).errorCode, "RESOURCE_EXCEEDED");
    assert.deepEqual([shells.places.length, programs.places.length], [1, 0]);
  });

  it("is ended with its session, and charged to the session that delegated the budget", async () => {
    const shells = scriptShells(250);
    const { at, session } = await open({}, {}, 1000, { shells });
    const child = await delegate(at, session, { lease: { budgets: { cpu_ms: 600 } } });
    await child.call("spawner", 1);
    assert.equal(await left(at, session), 400);
    await at.kernel.closeSession(child.id);
    assert.equal(await left(at, session), 750);
  });
});
