import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { SandboxedProgram, SandboxProfile } from "@narthex/kernel";
import { programPlan } from "./program-plan.ts";

const PLACE: SandboxProfile = {
  sessionId: "ses_a",
  workspace: "/srv/project",
  access: "write",
  mayFork: true,
  keepsProtected: true,
};
const PROGRAM: SandboxedProgram = { command: ["true"], workingDirectory: "." };
const PARTS = {
  identity: { uid: 1000, gid: 1000 },
  directory: { device: 1n, inode: 2n },
  toolchains: [],
  guards: [],
  homes: [],
};
const plan = (place: Partial<SandboxProfile> = {}, program: Partial<SandboxedProgram> = {}) =>
  programPlan({ ...PLACE, ...place }, { ...PROGRAM, ...program }, PARTS);

describe("the sandbox of a program", () => {
  it("has the workspace as the call's effects give it, and not at all without them", () => {
    const accessOf = (access: SandboxProfile["access"]) =>
      plan({ access }).mounts.find(({ target }) => target === "/workspace")?.access;
    assert.deepEqual([accessOf("none"), accessOf("read"), accessOf("write")], [undefined, "read", "write"]);
    assert.equal(plan({ access: "none" }).workingDirectory, "/");
    assert.deepEqual(plan({ access: "none" }).symlinks, []);
  });

  it("mounts guards after the workspace that they lie in", () => {
    const guard = { source: "/srv/project/.env", target: "/workspace/.env", access: "read" } as const;
    const targets = programPlan(PLACE, PROGRAM, { ...PARTS, guards: [guard] }).mounts.map(({ target }) => target);
    assert.deepEqual(targets, ["/workspace", "/workspace/.env"]);
  });

  it("starts in the workspace and nowhere else", () => {
    assert.equal(plan({}, { workingDirectory: "a/b" }).workingDirectory, "/workspace/a/b");
    for (const workingDirectory of ["/etc", "..", "a/../..", "a//b", "./a", "", "a/."]) {
      assert.throws(() => plan({}, { workingDirectory }), { code: "PATH_ESCAPE" }, workingDirectory);
    }
  });

  it("has an environment made from nothing", () => {
    process.env["NARTHEX_TEST_LEAK"] = "leaked";
    const { environment } = plan({}, { environment: { MINE: "1" } });
    delete process.env["NARTHEX_TEST_LEAK"];
    assert.equal(environment["NARTHEX_TEST_LEAK"], undefined);
    assert.deepEqual([environment["MINE"], environment["HOME"], environment["TZ"]], ["1", "/home/agent", "UTC"]);
  });

  it("knows the workspace by its own name too, unless that name is taken inside", () => {
    assert.deepEqual(plan().symlinks, [{ target: "/workspace", path: "/srv/project" }]);
    for (const workspace of ["/usr/src/x", "/etc/x", "/workspace/x", "/dev/shm/x", "/proc/x"]) {
      assert.deepEqual(plan({ workspace }).symlinks, [], workspace);
    }
  });

  it("has no second process without leave, no socket but those of the network, and bounded limits", () => {
    assert.equal(plan({ mayFork: false }).mayFork, false);
    assert.deepEqual(plan().socketFamilies, ["inet", "inet6"]);
    const { limits } = plan({}, { limits: { memoryBytes: 5, cpuMs: 1, processes: 3 } });
    assert.deepEqual([limits.memoryBytes, limits.cpuMs, limits.processes], [5, 1, 3]);
  });

  it("has the smaller of its own limit of processor time and what its call may use", () => {
    const allowed = (limitMs: number, cpuMs?: number) =>
      plan({ cpu: { limitMs, check: () => undefined } }, cpuMs === undefined ? {} : { limits: { cpuMs } }).limits.cpuMs;
    assert.deepEqual([allowed(1500), allowed(1, 9000), allowed(9000, 1001)], [1500, 1, 1001]);
    // More than every program has anyway is no reason to give one more.
    assert.equal(allowed(3_600_000), plan().limits.cpuMs);
  });
});
