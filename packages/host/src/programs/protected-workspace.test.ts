import assert from "node:assert/strict";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { GuardRecords } from "./guard-records.ts";
import { ProtectedWorkspace } from "./protected-workspace.ts";
import type { SetAside } from "./set-aside.ts";

const PROGRAM = { sessionId: "ses_a", program: { command: ["true"], workingDirectory: "." } };

describe("what a call was allowed to change", () => {
  let workspace: string;
  let guarded: ProtectedWorkspace;
  const signal = new AbortController().signal;
  beforeEach(async () => {
    workspace = await realpath(await mkdtemp(join(tmpdir(), "narthex-protected-")));
    const setAside: SetAside = async ({ paths }) => {
      for (const path of paths) await rm(join(workspace, path));
      return ["kept"];
    };
    const records = new GuardRecords(join(workspace, "guards"));
    guarded = new ProtectedWorkspace({ paths: [".mcp.json"], setAside, records });
  });
  afterEach(async () => {
    await guarded.close();
    await rm(workspace, { recursive: true });
  });

  it("is not blamed on a program that runs meanwhile", async () => {
    const stay = await guarded.begin({ workspace, ...PROGRAM }, signal);
    guarded.allowChange(workspace, ".mcp.json");
    await writeFile(join(workspace, ".mcp.json"), "{}");
    assert.deepEqual(await stay.putBack(), []);
    stay.leave();
  });

  it("is allowed to no program that comes later", async () => {
    const first = await guarded.begin({ workspace, ...PROGRAM }, signal);
    guarded.allowChange(workspace, ".mcp.json");
    first.leave();
    const second = await guarded.begin({ workspace, ...PROGRAM }, signal);
    await writeFile(join(workspace, ".mcp.json"), "attack");
    assert.deepEqual(await second.putBack(), [".mcp.json", "kept in kept"]);
    second.leave();
  });

  it("is each workspace's own", async () => {
    const stay = await guarded.begin({ workspace, ...PROGRAM }, signal);
    guarded.allowChange(`${workspace}-other`, ".mcp.json");
    await writeFile(join(workspace, ".mcp.json"), "attack");
    assert.deepEqual(await stay.putBack(), [".mcp.json", "kept in kept"]);
    stay.leave();
  });
});

describe("repositories of a workspace", () => {
  it("beyond what can be guarded are refused, not left unguarded", async () => {
    const workspace = await realpath(await mkdtemp(join(tmpdir(), "narthex-protected-")));
    const records = new GuardRecords(join(workspace, "guards"));
    const guarded = new ProtectedWorkspace({ paths: [".git"], setAside: () => Promise.resolve([]), records });
    const repositories = Array.from({ length: 257 }, (_, n) => `repository-${n}`);
    const program = { ...PROGRAM.program, repositories };
    const begun = guarded.begin({ ...PROGRAM, workspace, program }, new AbortController().signal);
    await assert.rejects(begun, { code: "RESOURCE_EXCEEDED" });
    await rm(workspace, { recursive: true });
  });
});
