import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmod, link, lstat, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import type { FileChange, FileOperation } from "@narthex/kernel";
import {
  assertFails,
  change,
  edit,
  fileState,
  gatherPreimages,
  list,
  listNames,
  move,
  remove,
  stateAt,
  write,
} from "./testing/file-operations.ts";
import { createScratchWorkspace, type ScratchWorkspace } from "./testing/scratch-workspace.ts";

describe("deleting, moving and restoring files of a workspace", () => {
  let scratch: ScratchWorkspace;
  const put = async (path: string, content: string): Promise<void> => {
    await writeFile(scratch.at(path), content);
    await scratch.own();
  };
  const exists = (path: string): Promise<boolean> =>
    lstat(scratch.at(path)).then(
      () => true,
      () => false,
    );
  const undo = ({ path, before: was, after: is }: FileChange, content?: string): FileOperation => ({
    kind: "restore",
    path,
    expected: is,
    before: was,
    content: content === undefined ? undefined : Buffer.from(content),
  });
  before(async () => {
    scratch = await createScratchWorkspace();
    await mkdir(scratch.at("outside-target"));
  });
  after(async () => {
    assert.deepEqual(await scratch.leftOvers(), []);
    await scratch[Symbol.asyncDispose]();
  });

  it("refuses to delete what is not there, not a file, or the workspace", async () => {
    execFileSync("/usr/bin/mkfifo", [scratch.at("pipe")]);
    await assertFails(scratch.run(remove("none")), "FILE_NOT_FOUND");
    await assertFails(scratch.run(remove("pipe")), "NOT_A_FILE");
    await assertFails(scratch.run(remove(".", true)), "INVALID_INPUT", /itself/);
    assert.ok(await exists("pipe"));
  });

  it("deletes a file, and can give it back", async () => {
    await put("gone", "content");
    assert.deepEqual(await gatherPreimages(scratch, remove("gone")), [["gone", fileState("content"), "content"]]);
    const [changed] = await change(scratch, remove("gone"));
    assert.ok(changed);
    assert.deepEqual(changed, { path: "gone", before: fileState("content"), after: { kind: "absent" } });
    assert.equal(await exists("gone"), false);
    await change(scratch, undo(changed, "content"));
    assert.equal(await readFile(scratch.at("gone"), "utf8"), "content");
  });

  it("deletes a link and never what it leads to", async () => {
    await mkdir(scratch.at("kept"));
    await put("kept/file", "x");
    for (const target of ["kept", "kept/file", "/etc/passwd", "nowhere"]) {
      await symlink(target, scratch.at("link"));
      const [changed] = await change(scratch, remove("link", true));
      assert.deepEqual(changed, { path: "link", before: { kind: "link", target }, after: { kind: "absent" } });
      assert.equal(await exists("link"), false);
    }
    assert.ok(await exists("kept/file"));
  });

  it("deletes a directory that is not empty only if asked to, with everything in it", async () => {
    await mkdir(scratch.at("tree/a/b"), { recursive: true });
    await symlink("../kept", scratch.at("tree/link"));
    await put("tree/a/b/deep", "deep");
    await put("tree/a/file", "file");
    await assertFails(scratch.run(remove("tree")), "DIRECTORY_NOT_EMPTY");
    const preimages = await gatherPreimages(scratch, remove("tree", true));
    const paths = ["tree", "tree/a", "tree/a/b", "tree/a/b/deep", "tree/a/file", "tree/link"];
    assert.deepEqual(
      preimages.map(([path, , text]) => [path, text]),
      paths.map((path) => [path, path.endsWith("deep") ? "deep" : path.endsWith("file") ? "file" : ""]),
    );
    const changes = await change(scratch, remove("tree", true));
    assert.deepEqual(
      changes.map(({ path, before: was }) => [path, was]),
      preimages.map(([path, state]) => [path, state]),
    );
    assert.deepEqual([await exists("tree"), await exists("kept/file")], [false, true]);
    for (const changed of changes) {
      const text = preimages.find(([path]) => path === changed.path)?.[2];
      await change(scratch, undo(changed, changed.before.kind === "file" ? text : undefined));
    }
    assert.deepEqual(await listNames(scratch, list("tree", { depth: 9 })), ["a", "a/b", "a/b/deep", "a/file", "link"]);
    assert.equal(await readFile(scratch.at("tree/a/b/deep"), "utf8"), "deep");
    assert.equal(await readlink(scratch.at("tree/link")), "../kept");
  });

  it("deletes an empty directory without being asked for more", async () => {
    await mkdir(scratch.at("empty"));
    await scratch.own();
    const [changed] = await change(scratch, remove("empty"));
    assert.deepEqual([changed?.before.kind, await exists("empty")], ["directory", false]);
  });

  it("deletes nothing of a tree that changed since it was reported, or that it cannot delete whole", async () => {
    await mkdir(scratch.at("busy/inside"), { recursive: true });
    await put("busy/file", "x");
    const prepared = await scratch.prepare(remove("busy", true));
    await put("busy/inside/new", "y");
    await assertFails(prepared.commit(), "EXECUTION_FAILED", /changed/);
    assert.ok((await exists("busy/file")) && (await exists("busy/inside/new")));
    await chmod(scratch.at("busy/inside"), 0o555);
    await assertFails(scratch.run(remove("busy", true)), "EXECUTION_FAILED", /may not be changed/);
    await chmod(scratch.at("busy/inside"), 0o755);
    execFileSync("/usr/bin/mkfifo", [scratch.at("busy/pipe")]);
    await assertFails(scratch.run(remove("busy", true)), "NOT_A_FILE");
    assert.deepEqual((await readdir(scratch.at("busy"))).sort(), ["file", "inside", "pipe"]);
  });

  it("refuses a tree deeper than it can hold", async () => {
    execFileSync("/bin/bash", ["-c", 'cd "$1" && for i in {1..300}; do mkdir d; cd d; done', "-", scratch.workspace]);
    await scratch.own();
    await assertFails(scratch.run(remove("d", true)), "RESOURCE_EXCEEDED", /256/);
    assert.ok(await exists("d"));
  });

  it("moves a file with the directories it needs", async () => {
    await put("from", "content");
    const changes = await change(scratch, move("from", "to/there"));
    assert.deepEqual(changes.slice(1), [
      { path: "from", before: fileState("content"), after: { kind: "absent" } },
      { path: "to/there", before: { kind: "absent" }, after: fileState("content") },
    ]);
    assert.deepEqual([changes[0]?.path, await exists("from")], ["to", false]);
    assert.equal(await readFile(scratch.at("to/there"), "utf8"), "content");
  });

  it("moves directories and links as they are", async () => {
    await mkdir(scratch.at("moving/inside"), { recursive: true });
    await put("moving/inside/file", "x");
    await symlink("/etc", scratch.at("moving-link"));
    await scratch.own();
    const { ino } = await stat(scratch.at("moving"));
    await change(scratch, move("moving", "moved"));
    await change(scratch, move("moving-link", "moved/link"));
    assert.equal((await stat(scratch.at("moved"))).ino, ino);
    assert.equal(await readlink(scratch.at("moved/link")), "/etc");
    assert.deepEqual(
      [await exists("moving"), await exists("moving-link"), await exists("moved/inside/file")],
      [false, false, true],
    );
  });

  it("refuses moves that would lose something", async () => {
    await put("one", "1");
    await put("two", "2");
    await mkdir(scratch.at("folder"));
    await put("folder/x", "x");
    await assertFails(scratch.run(move("none", "x")), "FILE_NOT_FOUND");
    await assertFails(scratch.run(move("one", "two")), "FILE_EXISTS");
    await assertFails(scratch.run(move("one", "one", true)), "FILE_EXISTS");
    await assertFails(scratch.run(move("one", "folder", true)), "FILE_EXISTS", /directory/);
    await assertFails(scratch.run(move("folder", "two", true)), "NOT_A_DIRECTORY");
    await assertFails(scratch.run(move("folder", "folder/x/y")), "NOT_A_DIRECTORY");
    await assertFails(scratch.run(move("folder", "folder/new/y")), "INVALID_INPUT", /itself/);
    await assertFails(scratch.run(move("pipe", "pipe2")), "NOT_A_FILE");
    await assertFails(scratch.run(move(".", "x")), "INVALID_INPUT");
    const late = await scratch.prepare(move("one", "late"));
    const lateFolder = await scratch.prepare(move("folder", "late-folder"));
    await put("late", "theirs");
    await put("late-folder", "theirs");
    await assertFails(late.commit(), "EXECUTION_FAILED", /changed/);
    await assertFails(lateFolder.commit(), "EXECUTION_FAILED", /changed/);
    assert.deepEqual([await exists("one"), await exists("folder/x")], [true, true]);
  });

  it("overwrites if asked to, and reports what was there", async () => {
    await put("winner", "new");
    await put("loser", "old");
    assert.deepEqual(await gatherPreimages(scratch, move("winner", "loser", true)), [
      ["loser", fileState("old"), "old"],
    ]);
    const changes = await change(scratch, move("winner", "loser", true));
    assert.deepEqual(changes[1], { path: "loser", before: fileState("old"), after: fileState("new") });
    assert.deepEqual([await exists("winner"), await readFile(scratch.at("loser"), "utf8")], [false, "new"]);
    await link(scratch.at("loser"), scratch.at("same"));
    await change(scratch, move("loser", "same", true));
    assert.deepEqual([await exists("loser"), await readFile(scratch.at("same"), "utf8")], [false, "new"]);
  });

  it("undoes writes and edits, files that were made included", async () => {
    const made = await change(scratch, write("undo/new", "one"));
    const [edited] = await change(scratch, edit("undo/new", "one", "two"));
    assert.ok(edited);
    await change(scratch, undo(edited, "one"));
    assert.equal(await readFile(scratch.at("undo/new"), "utf8"), "one");
    for (const changed of made.toReversed()) await change(scratch, undo(changed));
    assert.equal(await exists("undo"), false);
  });

  it("puts nothing back where something else is, and nothing else than was there", async () => {
    const [changed] = await change(scratch, write("touched", "mine"));
    assert.ok(changed);
    await put("touched", "theirs");
    await assertFails(scratch.run(undo(changed)), "EXECUTION_FAILED", /not as it was left/);
    const [again] = await change(scratch, write("touched", "mine"));
    assert.ok(again);
    await assertFails(scratch.run(undo(again, "forged")), "EXECUTION_FAILED", /not what was there/);
    await assertFails(scratch.run(undo(again)), "INVALID_INPUT");
    assert.equal(await readFile(scratch.at("touched"), "utf8"), "mine");
    await chmod(scratch.at("touched"), 0o600);
    assert.deepEqual(await stateAt(scratch, "touched"), fileState("mine", 0o600));
    await assertFails(scratch.run(undo(again, "theirs")), "EXECUTION_FAILED", /not as it was left/);
  });

  it("gives back and rewrites files and directories without their setuid and setgid bits", async () => {
    await put("lent", "content");
    await mkdir(scratch.at("shared"));
    await scratch.own();
    for (const [path, mode] of [
      ["lent", 0o6755],
      ["shared", 0o3750],
    ] as const) {
      await chmod(scratch.at(path), mode);
      const [removed] = await change(scratch, remove(path));
      assert.ok(removed);
      await change(scratch, undo(removed, path === "lent" ? "content" : undefined));
      assert.equal((await stat(scratch.at(path))).mode & 0o7777, mode & 0o1777);
    }
    await chmod(scratch.at("lent"), 0o4711);
    await change(scratch, write("lent", "other"));
    await change(scratch, edit("lent", "other", "another"));
    assert.equal((await stat(scratch.at("lent"))).mode & 0o7777, 0o711);
  });

  it("gives back a long file that comes in pieces", async () => {
    const pieces = Array.from({ length: 40 }, (_, number) => Buffer.alloc(100_000, String(number)));
    const all = Buffer.concat(pieces);
    const before = fileState(all, 0o640);
    async function* content(): AsyncGenerator<Uint8Array, void> {
      yield* pieces;
    }
    await change(scratch, {
      kind: "restore",
      path: "back/long",
      expected: { kind: "absent" },
      before,
      content: content(),
    });
    assert.deepEqual(await stateAt(scratch, "back/long"), before);
  });
});
