import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { ProtectionReport } from "@narthex/kernel";
import { recordName } from "./guard-record.ts";
import { GuardRecords } from "./guard-records.ts";
import { ProtectedWorkspace } from "./protected-workspace.ts";
import type { RestoreProtected } from "./restore-protected.ts";

const PROGRAM = { sessionId: "ses_a", program: { command: ["true"], workingDirectory: "." } };

describe("what a call was allowed to change", () => {
  let workspace: string;
  let guarded: ProtectedWorkspace;
  const signal = new AbortController().signal;
  beforeEach(async () => {
    workspace = await realpath(await mkdtemp(join(tmpdir(), "narthex-protected-")));
    const setAside: RestoreProtected = async ({ paths }) => {
      for (const path of paths) await rm(join(workspace, path));
      return ["kept"];
    };
    const records = new GuardRecords(join(workspace, "guards"));
    guarded = new ProtectedWorkspace({ paths: [".mcp.json"], restoreProtected: setAside, records });
  });
  afterEach(async () => {
    await guarded.close();
    await rm(workspace, { recursive: true });
  });

  it("is not blamed on a program that runs meanwhile", async () => {
    const stay = await guarded.begin({ workspace, ...PROGRAM }, signal);
    guarded.allowChange(workspace, ".mcp.json");
    await writeFile(join(workspace, ".mcp.json"), "{}");
    assert.deepEqual(await stay.restore(), []);
    stay.leave();
  });

  it("is allowed to no program that comes later", async () => {
    const first = await guarded.begin({ workspace, ...PROGRAM }, signal);
    guarded.allowChange(workspace, ".mcp.json");
    first.leave();
    const second = await guarded.begin({ workspace, ...PROGRAM }, signal);
    await writeFile(join(workspace, ".mcp.json"), "attack");
    assert.deepEqual(await second.restore(), [".mcp.json", "kept in kept"]);
    second.leave();
  });

  it("includes the place where another program's files are kept", async () => {
    const place = join(workspace, ".narthex-taken");
    const setAside: RestoreProtected = async ({ paths }) => {
      for (const path of paths) await rm(join(workspace, path));
      await mkdir(place);
      return [".narthex-taken/one"];
    };
    const records = new GuardRecords(join(workspace, "guards"));
    const both = new ProtectedWorkspace({
      paths: [".mcp.json", ".narthex-taken"],
      restoreProtected: setAside,
      records,
    });
    const first = await both.begin({ workspace, ...PROGRAM }, signal);
    const second = await both.begin({ workspace, ...PROGRAM }, signal);
    await writeFile(join(workspace, ".mcp.json"), "attack");
    assert.deepEqual(await first.restore(), [".mcp.json", "kept in .narthex-taken/one"]);
    assert.deepEqual(await second.restore(), []);
    for (const stay of [first, second]) stay.leave();
    await both.close();
  });

  it("is each workspace's own", async () => {
    const stay = await guarded.begin({ workspace, ...PROGRAM }, signal);
    guarded.allowChange(`${workspace}-other`, ".mcp.json");
    await writeFile(join(workspace, ".mcp.json"), "attack");
    assert.deepEqual(await stay.restore(), [".mcp.json", "kept in kept"]);
    stay.leave();
  });
});

describe("what a kernel that was killed left", () => {
  let root: string;
  let workspace: string;
  let guards: string;
  const opened: ProtectedWorkspace[] = [];
  const { signal } = new AbortController();
  beforeEach(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), "narthex-protected-")));
    [workspace, guards] = [join(root, "workspace"), join(root, "guards")];
    await mkdir(workspace);
    await writeFile(join(workspace, ".env"), "own");
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
    await rm(root, { recursive: true });
  });

  /** A kernel's own, with what it is told. */
  async function start(
    setAside?: RestoreProtected,
  ): Promise<{ guarded: ProtectedWorkspace; reports: ProtectionReport[] }> {
    const removing: RestoreProtected = async ({ workspace: place, paths }) => {
      for (const path of paths) await rm(join(place, path), { recursive: true });
      return paths.length === 0 ? [] : ["kept"];
    };
    const records = new GuardRecords(guards, 1_000_000);
    const guarded = new ProtectedWorkspace({
      paths: [".env", ".mcp.json"],
      restoreProtected: setAside ?? removing,
      records,
    });
    opened.push(guarded);
    const reports: ProtectionReport[] = [];
    const report = async (one: ProtectionReport): Promise<void> => void reports.push(one);
    await guarded.recover(report, () => Promise.resolve(() => undefined));
    return { guarded, reports };
  }
  const failing: RestoreProtected = () => Promise.reject(new Error("no room"));

  it("is put right at the next start: what was there stays, what was allowed too", async () => {
    const { guarded } = await start();
    await guarded.begin({ workspace, ...PROGRAM }, signal);
    await writeFile(join(workspace, ".mcp.json"), "attack");
    const { reports } = await start();
    assert.deepEqual(await readdir(workspace), [".env"]);
    assert.deepEqual(
      reports.map(({ paths, keptIn, afterCrash, sessionIds }) => ({ paths, keptIn, afterCrash, sessionIds })),
      [{ paths: [".mcp.json"], keptIn: ["kept"], afterCrash: true, sessionIds: ["ses_a"] }],
    );
    assert.deepEqual((await start()).reports, []);
  });

  it("keeps a change that a call was allowed to make", async () => {
    const { guarded } = await start();
    await guarded.begin({ workspace, ...PROGRAM }, signal);
    guarded.allowChange(workspace, ".mcp.json");
    await writeFile(join(workspace, ".mcp.json"), "approved");
    while (!(await readFile(join(guards, recordName(workspace)), "utf8")).includes('"allowed":[".mcp.json"]'));
    assert.deepEqual((await start()).reports, []);
    assert.deepEqual((await readdir(workspace)).sort(), [".env", ".mcp.json"]);
  });

  it("is not there of a lasting program that rested, nor of one that may change everything", async () => {
    const { guarded } = await start();
    const stay = await guarded.begin({ workspace, ...PROGRAM }, signal);
    stay.rest();
    await guarded.close();
    assert.deepEqual(await readdir(guards), []);
    assert.equal(await stay.renew(), true);
    assert.equal((await readdir(guards)).length, 1);
    stay.leave();
    const unguarded = await guarded.beginUnguarded(workspace, signal);
    assert.deepEqual(await readdir(guards), []);
    unguarded.leave();
  });

  it("keeps programs out if it cannot be put right, of workspaces around it too, until it can", async () => {
    const { guarded } = await start();
    await guarded.begin({ workspace, ...PROGRAM }, signal);
    await writeFile(join(workspace, ".mcp.json"), "attack");
    const second = await start(failing);
    assert.deepEqual(
      second.reports.map(({ problem }) => problem),
      ["no room"],
    );
    assert.deepEqual(second.guarded.unsafe(), [{ workspace, problem: "no room" }]);
    for (const place of [workspace, root, workspace]) {
      const begun = second.guarded.begin({ ...PROGRAM, workspace: place }, signal);
      await assert.rejects(begun, { code: "SANDBOX_UNAVAILABLE", message: /narthex doctor --accept/ });
    }
    assert.equal(second.reports.length, 1, "it is told once");
    const third = await start();
    assert.deepEqual([third.reports.length, third.guarded.unsafe(), await readdir(workspace)], [1, [], [".env"]]);
  });

  it("keeps a program out that waited for the one that failed", async () => {
    const { guarded } = await start(failing);
    const stay = await guarded.begin({ workspace, ...PROGRAM }, signal);
    await writeFile(join(workspace, ".mcp.json"), "attack");
    const waiting = guarded.begin({ workspace, ...PROGRAM }, signal);
    await assert.rejects(stay.restore(), { code: "PROTECTION_FAILED" });
    stay.leave();
    await assert.rejects(waiting, { code: "SANDBOX_UNAVAILABLE" });
  });

  it("keeps programs out if its record is damaged", async () => {
    await mkdir(guards);
    await writeFile(join(guards, recordName(workspace)), "{");
    const { guarded } = await start();
    assert.match(guarded.unsafe()[0]?.problem ?? "", /is damaged/);
    await assert.rejects(guarded.begin({ workspace, ...PROGRAM }, signal), { code: "SANDBOX_UNAVAILABLE" });
  });
});

describe("repositories of a workspace", () => {
  it("beyond what can be guarded are refused, not left unguarded", async () => {
    const workspace = await realpath(await mkdtemp(join(tmpdir(), "narthex-protected-")));
    const records = new GuardRecords(join(workspace, "guards"));
    const guarded = new ProtectedWorkspace({ paths: [".git"], restoreProtected: () => Promise.resolve([]), records });
    const repositories = Array.from({ length: 257 }, (_, n) => `repository-${n}`);
    const program = { ...PROGRAM.program, repositories };
    const begun = guarded.begin({ ...PROGRAM, workspace, program }, new AbortController().signal);
    await assert.rejects(begun, { code: "RESOURCE_EXCEEDED" });
    await rm(workspace, { recursive: true });
  });
});
