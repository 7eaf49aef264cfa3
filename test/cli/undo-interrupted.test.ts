import assert from "node:assert/strict";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { KernelError } from "@narthex/contracts";
import type { WorkspaceFiles } from "@narthex/kernel";
import { createTestKernel, permitAll } from "@narthex/testkit";
import { builtinTools } from "@narthex/tools";
import { createScratchWorkspace } from "../../packages/host/src/files/testing/scratch-workspace.ts";

const TREE = ["dest", "file", "tree", "tree/a", "tree/b", "tree/b/c", "tree/link"];

test("an undo interrupted anywhere resumes there, and is applied once", {
  timeout: 120_000,
}, async (context) => {
  await using scratch = await createScratchWorkspace();
  let stopAfter = Number.POSITIVE_INFINITY;
  /** The real files, which stop working after some more changes. */
  const files: WorkspaceFiles = {
    async prepare(place, operation, signal) {
      if (place.access === "write" && --stopAfter < 0) throw new KernelError("SANDBOX_ERROR", "the disk is gone");
      return await scratch.files.prepare(place, operation, signal);
    },
  };
  const tools = builtinTools();
  const { kernel, open } = await createTestKernel({ tools, files, policy: permitAll(tools) });
  context.after(() => kernel.close());
  await mkdir(scratch.at("tree/b"), { recursive: true });
  for (const path of ["file", "dest", "tree/a", "tree/b/c"]) await writeFile(scratch.at(path), path);
  await symlink("a", scratch.at("tree/link"));
  await scratch.own();
  const names = async (): Promise<string[]> => (await readdir(scratch.workspace, { recursive: true })).sort();
  assert.deepEqual(await names(), TREE);

  let stops = 0;
  for (let changes = 0; ; changes++) {
    const session = await open({ workspace: scratch.workspace });
    for (const [tool, input] of [
      ["file_delete", { path: "tree", recursive: true }],
      ["file_move", { source: "file", destination: "dest", overwrite: true }],
      ["file_write", { path: "new/made", content: "x" }],
    ] as const) {
      assert.equal((await session.call(tool, input)).status, "success");
    }
    const undo = () => kernel.undo({ sessionId: session.id, by: "ada", dryRun: false });
    stopAfter = changes;
    const first = await undo().then(
      () => "done",
      (fault: unknown) => String(fault),
    );
    stopAfter = Number.POSITIVE_INFINITY;
    if (first !== "done") {
      stops++;
      assert.match(first, /the disk is gone/);
      await undo();
    }
    assert.deepEqual(await names(), TREE, `stopped after ${changes} changes`);
    assert.deepEqual(
      [await readFile(scratch.at("dest"), "utf8"), await readFile(scratch.at("file"), "utf8")],
      ["dest", "file"],
    );
    await assert.rejects(undo(), { code: "NOTHING_TO_UNDO" });
    if (first === "done") break;
  }
  assert.equal(stops, 9, "one stop before each of the changes that an undo makes");
});

test("a change made after an interrupted undo is a conflict like any other", {
  timeout: 60_000,
}, async (context) => {
  await using scratch = await createScratchWorkspace();
  let isBroken = false;
  const files: WorkspaceFiles = {
    async prepare(place, operation, signal) {
      if (isBroken && operation.kind === "restore" && operation.path === "tree/b") {
        throw new KernelError("SANDBOX_ERROR", "the disk is gone");
      }
      return await scratch.files.prepare(place, operation, signal);
    },
  };
  const tools = builtinTools();
  const { kernel, open } = await createTestKernel({ tools, files, policy: permitAll(tools) });
  context.after(() => kernel.close());
  await mkdir(scratch.at("tree"));
  for (const path of ["tree/a", "tree/b"]) await writeFile(scratch.at(path), path);
  await scratch.own();
  const session = await open({ workspace: scratch.workspace });
  await session.call("file_delete", { path: "tree", recursive: true });
  const undo = () => kernel.undo({ sessionId: session.id, by: "ada", dryRun: false });
  isBroken = true;
  await assert.rejects(undo(), /the disk is gone/);
  isBroken = false;
  await writeFile(scratch.at("tree/a"), "somebody else's");
  await assert.rejects(undo(), /changed since, so nothing was undone: `tree\/a`/);
  assert.deepEqual(await readdir(scratch.at("tree")), ["a"]);
  assert.equal(await readFile(scratch.at("tree/a"), "utf8"), "somebody else's");
});
