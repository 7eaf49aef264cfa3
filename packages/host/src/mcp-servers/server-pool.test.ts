import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isKernelError, type JsonObject } from "@narthex/contracts";
import { SERVER_LIMITS } from "./server-limits.ts";
import { ServerPool, type ServerPoolOptions } from "./server-pool.ts";
import type { ServerSource } from "./server-source.ts";
import { createFakePrograms, type FakePrograms, type FakeServer, fakeServer } from "./testing/fake-programs.ts";
import type { WorkspaceAccess } from "./server-settings.ts";

const ANSWERS: FakeServer = fakeServer(({ id }, say) => say({ jsonrpc: "2.0", id, result: { content: [] } }));
const CRASHES: FakeServer = fakeServer((_message, _say, exit) => exit());
const SILENT: FakeServer = fakeServer(() => undefined);

const SOURCE: ServerSource = {
  settings: {
    name: "odd",
    command: ["odd"],
    environment: new Map(),
    secrets: new Map(),
    files: [],
    workspace: "write",
    defaultProfile: {},
    tools: new Map(),
  },
  secrets: new Map(),
  files: [],
  version: "1.0.0",
};

function createPool(server: FakeServer, options: Partial<ServerPoolOptions> = {}) {
  const programs: FakePrograms = createFakePrograms(server);
  const pool = new ServerPool({ programs, onListed: () => undefined, ...options });
  const call = (sessionId: string, access: WorkspaceAccess = "none", signal = new AbortController().signal) =>
    pool.call(SOURCE, { ...PLACE, sessionId, access }, signal);
  const alive = (): number => programs.started.filter(({ isAlive }) => isAlive).length;
  return { programs, pool, call, alive };
}

const PLACE = { workspace: "/srv/project", mayFork: false, tool: "speak", input: {}, verify: () => undefined };
const fails = (pattern: RegExp) => (fault: unknown) => isKernelError(fault) && pattern.test(fault.message);

describe("servers at work", () => {
  it("that crash are started twice, and then only after pauses that double", async () => {
    let nowMs = 0;
    const { programs, call } = createPool(CRASHES, { nowMs: () => nowMs });
    const starts: number[] = [];
    for (; nowMs < 6 * SERVER_LIMITS.longestPauseMs; nowMs += 500) {
      const before = programs.started.length;
      await assert.rejects(call(`session ${nowMs}`), isKernelError);
      if (programs.started.length > before) starts.push(nowMs);
    }
    assert.deepEqual(starts.slice(0, 6), [0, 500, 1500, 3500, 7500, 15_500]);
    const pauses = starts.slice(1).map((at, index) => at - (starts[index] ?? 0));
    assert.equal(Math.max(...pauses), SERVER_LIMITS.longestPauseMs);
    assert.ok(starts.length < 20);
  });

  it("are each session's own, and as many as there may be: the one that rested longest makes room", async () => {
    let nowMs = 0;
    const { programs, call, alive } = createPool(ANSWERS, { nowMs: () => ++nowMs });
    for (let n = 0; n < SERVER_LIMITS.processes; n++) await call(`session ${n}`);
    assert.equal(alive(), SERVER_LIMITS.processes);
    await call("session 0");
    assert.equal(programs.started.length, SERVER_LIMITS.processes);
    await call("one more");
    assert.equal(alive(), SERVER_LIMITS.processes);
    assert.equal(programs.started[1]?.isAlive, false);
    assert.equal(programs.started[0]?.isAlive, true);
  });

  it("that are all busy leave no room for another", async () => {
    const { pool, call } = createPool(SILENT);
    const waiting = Array.from({ length: SERVER_LIMITS.processes }, (_, n) => call(`session ${n}`));
    await assert.rejects(call("one more"), fails(/MCP servers are at work already/));
    await Promise.all([pool.close(), ...waiting.map((one) => assert.rejects(one))]);
  });

  it("take so many waiting calls and no more", async () => {
    const { pool, call } = createPool(SILENT);
    const waiting = Array.from({ length: SERVER_LIMITS.waiting }, () => call("one"));
    await assert.rejects(call("one"), fails(/64 calls wait/));
    await Promise.all([pool.close(), ...waiting.map((one) => assert.rejects(one))]);
  });

  it("end with their session, and what waits for them is cancelled", async () => {
    const { programs, pool, call, alive } = createPool(ANSWERS);
    await Promise.all([call("one"), call("two")]);
    const late = assert.rejects(call("one"), isKernelError);
    await pool.endSession("one");
    await late;
    assert.equal(alive(), 1);
    await pool.close();
    assert.equal(alive(), 0);
    assert.equal(programs.started.length, 2);
  });

  it("stop when they are idle", async () => {
    const { programs, call } = createPool(ANSWERS, { idleMs: 1 });
    await call("one");
    await programs.started[0]?.ended;
    await call("one");
    assert.equal(programs.started.length, 2);
  });

  it("end with the call that is given up", async () => {
    const { programs, call } = createPool(SILENT);
    const giving = new AbortController();
    const called = assert.rejects(call("one", "none", giving.signal), fails(/did not answer in time/));
    setImmediate(() => giving.abort());
    await called;
    await programs.started[0]?.ended;
  });

  it("live for one call if they may write the workspace", async () => {
    const { programs, call, alive } = createPool(ANSWERS);
    for (const _ of [1, 2]) await call("one", "write");
    assert.deepEqual([programs.started.length, alive()], [2, 0]);
  });

  it("have another process for each measure of the workspace", async () => {
    const { programs, call } = createPool(ANSWERS);
    for (const access of ["none", "read", "none", "read"] as const) await call("one", access);
    assert.equal(programs.started.length, 2);
  });
});

describe("a server whose files or program lie in the workspace", () => {
  const CASES: Readonly<Record<string, Partial<ServerSource>>> = {
    "a file in it": { files: [{ source: "/srv/project/server.js", target: "/opt/server.js" }] },
    "a directory around it": { files: [{ source: "/srv", target: "/srv" }] },
    "a program in it": { settings: { ...SOURCE.settings, command: ["/srv/project/server"] } },
    "a program in it, as it is called inside": { settings: { ...SOURCE.settings, command: ["/workspace/server"] } },
  };
  for (const [name, source] of Object.entries(CASES)) {
    it(`is not started: ${name}`, async () => {
      const { programs, pool } = createPool(ANSWERS);
      const call = { ...PLACE, sessionId: "one", access: "read" as const, input: {} satisfies JsonObject };
      const asked = pool.call({ ...SOURCE, ...source }, call, new AbortController().signal);
      await assert.rejects(asked, fails(/overlap, and an agent could change what it runs/));
      assert.equal(programs.started.length, 0);
    });
  }
});
