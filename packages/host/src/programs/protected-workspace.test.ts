import assert from "node:assert/strict";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { WorkspaceFiles } from "@narthex/kernel";
import { ProtectedWorkspace } from "./protected-workspace.ts";

const PROGRAM = { command: ["true"], workingDirectory: "." };
const UNUSED: WorkspaceFiles = { prepare: () => assert.fail("nothing is restored here") };

describe("what a call was allowed to change", () => {
  let workspace: string;
  let guarded: ProtectedWorkspace;
  const signal = new AbortController().signal;
  beforeEach(async () => {
    workspace = await realpath(await mkdtemp(join(tmpdir(), "narthex-protected-")));
    guarded = new ProtectedWorkspace([".mcp.json"], UNUSED, async ({ paths }) => {
      for (const path of paths) await rm(join(workspace, path));
      return "kept";
    });
  });
  afterEach(() => rm(workspace, { recursive: true }));

  it("is not blamed on a program that runs meanwhile", async () => {
    const stay = await guarded.begin(workspace, PROGRAM, signal);
    guarded.allowChange(workspace, ".mcp.json");
    await writeFile(join(workspace, ".mcp.json"), "{}");
    assert.deepEqual(await stay.putBack(), []);
    stay.entrance.leave();
  });

  it("is allowed to no program that comes later", async () => {
    const first = await guarded.begin(workspace, PROGRAM, signal);
    guarded.allowChange(workspace, ".mcp.json");
    first.entrance.leave();
    const second = await guarded.begin(workspace, PROGRAM, signal);
    await writeFile(join(workspace, ".mcp.json"), "attack");
    assert.deepEqual(await second.putBack(), [".mcp.json", "kept in kept"]);
    second.entrance.leave();
  });

  it("is each workspace's own", async () => {
    const stay = await guarded.begin(workspace, PROGRAM, signal);
    guarded.allowChange(`${workspace}-other`, ".mcp.json");
    await writeFile(join(workspace, ".mcp.json"), "attack");
    assert.deepEqual(await stay.putBack(), [".mcp.json", "kept in kept"]);
    stay.entrance.leave();
  });
});

describe("repositories of a workspace", () => {
  it("beyond what can be guarded are refused, not left unguarded", async () => {
    const workspace = await realpath(await mkdtemp(join(tmpdir(), "narthex-protected-")));
    const guarded = new ProtectedWorkspace([".git"], UNUSED, () => Promise.resolve(""));
    const repositories = Array.from({ length: 257 }, (_, n) => `repository-${n}`);
    const begun = guarded.begin(workspace, { ...PROGRAM, repositories }, new AbortController().signal);
    await assert.rejects(begun, { code: "RESOURCE_EXCEEDED" });
    await rm(workspace, { recursive: true });
  });
});
