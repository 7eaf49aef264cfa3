import assert from "node:assert/strict";
import { chmod, link, mkdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { MAX_EDIT_SIZE } from "@narthex/contracts";
import { assertFails, change, edit, fileState, gatherPreimages, runAs, write } from "./testing/file-operations.ts";
import { createScratchWorkspace, type ScratchWorkspace } from "./testing/scratch-workspace.ts";

describe("writing and editing files of a workspace", () => {
  let scratch: ScratchWorkspace;
  const put = async (path: string, content: string | Buffer): Promise<void> => {
    await writeFile(scratch.at(path), content);
    await scratch.own();
  };
  const text = (path: string): Promise<string> => readFile(scratch.at(path), "utf8");
  before(async () => {
    scratch = await createScratchWorkspace();
  });
  after(async () => {
    assert.deepEqual(await scratch.leftOvers(), []);
    await scratch[Symbol.asyncDispose]();
  });

  it("refuses to write over what is not a file, and makes nothing", async () => {
    await mkdir(scratch.at("directory"));
    await put("file", "x");
    await assertFails(scratch.run(write("directory", "x")), "NOT_A_FILE");
    await assertFails(scratch.run(write(".", "x")), "NOT_A_FILE");
    await assertFails(scratch.run(write("file/below/it", "x")), "NOT_A_DIRECTORY");
    await assertFails(scratch.run(write("../outside", "x")), "PATH_ESCAPE");
    assert.equal(await text("file"), "x");
  });

  it("makes a file with the directories it needs, and reports each", async () => {
    const changes = await change(scratch, write("new/deep/file", "hello"));
    assert.deepEqual(
      changes.map(({ path, before: was, after: is }) => [path, was.kind, is]),
      [
        ["new", "absent", { kind: "directory", mode: 0o755 }],
        ["new/deep", "absent", { kind: "directory", mode: 0o755 }],
        ["new/deep/file", "absent", fileState("hello")],
      ],
    );
    assert.equal(await text("new/deep/file"), "hello");
  });

  it("replaces a file at once, and keeps its mode but not its inode", async () => {
    await put("script", "old");
    await chmod(scratch.at("script"), 0o750);
    const { ino } = await stat(scratch.at("script"));
    await link(scratch.at("script"), scratch.at("other-name"));
    assert.deepEqual(await gatherPreimages(scratch, write("script", "new")), [
      ["script", fileState("old", 0o750), "old"],
    ]);
    const [changed] = await change(scratch, write("script", "new"));
    assert.deepEqual(changed, { path: "script", before: fileState("old", 0o750), after: fileState("new", 0o750) });
    const now = await stat(scratch.at("script"));
    assert.equal(now.mode & 0o7777, 0o750);
    assert.notEqual(now.ino, ino);
    assert.equal(await text("other-name"), "old");
  });

  it("does nothing before it is told to, and nothing when it is left", async () => {
    await put("waiting", "before");
    const prepared = await scratch.prepare(write("waiting", "after"));
    const fresh = await scratch.prepare(write("made/late", "after"));
    assert.deepEqual([prepared.opened, fresh.opened], [["waiting"], ["made/late"]]);
    await prepared.abandon();
    await fresh.abandon();
    assert.equal(await text("waiting"), "before");
    await assert.rejects(stat(scratch.at("made")));
    await assertFails(prepared.commit(), "INTERNAL");
  });

  it("writes and replaces content of many frames", async () => {
    const long = Buffer.alloc(5_000_001, "narthex ");
    const operation = { kind: "write", path: "long", content: long, mode: "replace" } as const;
    for (const was of [{ kind: "absent" }, fileState(long)]) {
      assert.deepEqual(await change(scratch, operation), [{ path: "long", before: was, after: fileState(long) }]);
      assert.ok((await readFile(scratch.at("long"))).equals(long));
    }
    const [, , content] = (await gatherPreimages(scratch, operation))[0] ?? [];
    assert.equal(content, long.toString());
  });

  it("creates a file only if the path does not exist, not even as a dangling link", async () => {
    await change(scratch, write("once", "first", "create_only"));
    await assertFails(scratch.run(write("once", "second", "create_only")), "FILE_EXISTS");
    await symlink("nowhere", scratch.at("dangling"));
    await assertFails(scratch.run(write("dangling", "x", "create_only")), "FILE_EXISTS");
    const late = await scratch.prepare(write("late", "mine", "create_only"));
    await put("late", "theirs");
    await assertFails(late.commit(), "FILE_EXISTS");
    assert.deepEqual([await text("once"), await text("late")], ["first", "theirs"]);
  });

  it("lets exactly one of many makers win", async () => {
    const makers = await Promise.all(
      Array.from({ length: 20 }, (_, number) => scratch.prepare(write("contested", `maker ${number}`, "create_only"))),
    );
    const ends = await Promise.allSettled(makers.map((maker) => maker.commit()));
    const winners = ends.flatMap((end, number) => (end.status === "fulfilled" ? [`maker ${number}`] : []));
    assert.deepEqual(winners, [await text("contested")]);
  });

  it("appends to a file and creates it if it is missing", async () => {
    const [made] = await change(scratch, write("log", "one\n", "append"));
    assert.deepEqual([made?.before.kind, made?.after], ["absent", fileState("one\n")]);
    assert.deepEqual(await change(scratch, write("log", "two\n", "append")), [
      { path: "log", before: fileState("one\n"), after: fileState("one\ntwo\n") },
    ]);
    const long = Buffer.alloc(2_500_000, "x");
    await put("long-log", long);
    const [grown] = await change(scratch, write("long-log", "end", "append"));
    assert.deepEqual(grown?.after, fileState(Buffer.concat([long, Buffer.from("end")])));
    assert.ok((await text("long-log")).endsWith("xend"));
  });

  it("does not overwrite a file that changed concurrently", async () => {
    await put("shared", "one");
    const replaced = await scratch.prepare(write("shared", "mine"));
    const edited = await scratch.prepare(edit("shared", "one", "mine"));
    const absent = await scratch.prepare(write("appearing", "mine"));
    await put("shared", "their");
    await put("appearing", "their");
    for (const prepared of [replaced, edited, absent])
      await assertFails(prepared.commit(), "EXECUTION_FAILED", /changed/);
    assert.deepEqual([await text("shared"), await text("appearing")], ["their", "their"]);
  });

  it("lets one of two edits of the same file through, and loses neither's text", async () => {
    await put("pair", "one two");
    const [first, second] = await Promise.all([
      scratch.prepare(edit("pair", "one", "1")),
      scratch.prepare(edit("pair", "two", "2")),
    ]);
    const ends = await Promise.allSettled([first.commit(), second.commit()]);
    assert.deepEqual(ends.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
    assert.ok(["1 two", "one 2"].includes(await text("pair")));
  });

  it("edits the one place, and keeps line ends, the missing last one, and the mode", async () => {
    await put("windows", "a\r\nb\r\nlast");
    await chmod(scratch.at("windows"), 0o600);
    const answer = await runAs(scratch, "changed", edit("windows", "b\r\n", "B\r\nB2\r\n"));
    assert.deepEqual(answer.lines, [2]);
    assert.deepEqual(answer.changes, [
      { path: "windows", before: fileState("a\r\nb\r\nlast", 0o600), after: fileState("a\r\nB\r\nB2\r\nlast", 0o600) },
    ]);
    assert.equal(await text("windows"), "a\r\nB\r\nB2\r\nlast");
  });

  it("refuses an edit that is not about exactly one place, and says how many and where", async () => {
    await put("many", "x\nab\naba\nx ababa\n");
    await assertFails(scratch.run(edit("many", "none", "")), "NO_MATCH");
    await assertFails(scratch.run(edit("many", "aba", "")), "MULTIPLE_MATCHES", /3 times, on lines 3, 4$/);
    await put("overlapping", "aaa");
    await assertFails(scratch.run(edit("overlapping", "aa", "b")), "MULTIPLE_MATCHES", /2 times, on lines 1$/);
    await put("lines", "a\na\na");
    await assertFails(scratch.run(edit("lines", "a\na", "b")), "MULTIPLE_MATCHES", /2 times, on lines 1, 2$/);
    await assertFails(scratch.run(edit("many", "", "x")), "INVALID_INPUT");
    assert.equal(await text("many"), "x\nab\naba\nx ababa\n");
  });

  it("replaces every place if asked to, from the left", async () => {
    await put("all", "aaaaa b aa\naa");
    const answer = await runAs(scratch, "changed", edit("all", "aa", "é", true));
    assert.deepEqual(answer.lines, [1, 1, 1, 2]);
    assert.equal(await text("all"), "ééa b é\né");
    assert.deepEqual(answer.changes[0]?.after, fileState("ééa b é\né"));
  });

  it("edits a file that does not fit into one answer, and knows its hash", async () => {
    const line = `${"x".repeat(99)}\n`;
    const start = line.repeat(10_000);
    await put("large", `${start}NEEDLE\n${start}`);
    const answer = await runAs(scratch, "changed", edit("large", "NEEDLE", "y".repeat(300_000)));
    assert.deepEqual(answer.lines, [10_001]);
    assert.deepEqual(answer.changes[0]?.after, fileState(await readFile(scratch.at("large"))));
    const all = await runAs(scratch, "changed", edit("large", "xx\n", "x\n", true));
    assert.deepEqual(all.changes[0]?.after, fileState(await readFile(scratch.at("large"))));
    assert.equal(all.lines.length, 1000);
    await assertFails(scratch.run(edit("large", "x", "y", true)), "RESOURCE_EXCEEDED", /100000/);
  });

  it("edits the longest texts there may be, and refuses longer ones", async () => {
    const [longest, other] = ["é".repeat(MAX_EDIT_SIZE / 2), "ü".repeat(MAX_EDIT_SIZE / 2)];
    await put("longest", `<${longest}>`);
    await assertFails(scratch.run(edit("longest", `${longest}x`, "")), "INVALID_INPUT");
    await assertFails(scratch.run(edit("longest", "<", `${longest}x`)), "INVALID_INPUT");
    await change(scratch, edit("longest", longest, other));
    assert.equal(await text("longest"), `<${other}>`);
    await rm(scratch.at("longest"));
  });

  it("does not move a planted file into place of its own temporary file", async () => {
    await put("target", "old");
    const pieces = [1, 2, 3].map((number) => Buffer.alloc(1000, String(number)));
    async function* content(): AsyncGenerator<Uint8Array, void> {
      yield* pieces.slice(0, 2);
      const [temporary] = await scratch.untilLeftOver();
      await writeFile(scratch.at("planted"), "planted");
      await rename(scratch.at("planted"), temporary);
      yield* pieces.slice(2);
    }
    const [expected, wanted] = [fileState("old"), fileState(Buffer.concat(pieces))];
    const committing = scratch.run({ kind: "restore", path: "target", expected, before: wanted, content: content() });
    await assertFails(committing, "EXECUTION_FAILED", /changed/);
    assert.equal(await text("target"), "old");
  });

  it("refuses to edit what is not text, not a file, or not there", async () => {
    await put("binary", Buffer.from([0x61, 0xff, 0x62]));
    await assertFails(scratch.run(edit("binary", "a", "b")), "NOT_TEXT");
    await assertFails(scratch.run(edit("directory", "a", "b")), "NOT_A_FILE");
    await assertFails(scratch.run(edit("none", "a", "b")), "FILE_NOT_FOUND");
  });

  it("finds out in reasonable time that a text almost fits everywhere", async () => {
    await put("periodic", "a".repeat(2_000_000));
    await assertFails(scratch.run(edit("periodic", "a".repeat(1_000_000), "")), "MULTIPLE_MATCHES", /1000001 times/);
    await rm(scratch.at("periodic"));
  });

  it("says that permission is denied, and keeps what is there", async () => {
    await mkdir(scratch.at("locked"));
    await put("locked/file", "x");
    await chmod(scratch.at("locked"), 0o555);
    for (const operation of [write("locked/file", "y"), write("locked/new", "y"), edit("locked/file", "x", "y")]) {
      await assertFails(scratch.run(operation), "EXECUTION_FAILED", /permission denied/);
    }
    assert.equal(await text("locked/file"), "x");
    await chmod(scratch.at("locked"), 0o755);
  });

  it("writes nothing when the user has read access only", async () => {
    await put("read-only", "x");
    const { files, workspace } = scratch;
    const { signal } = new AbortController();
    const prepared = await files.prepare({ workspace, access: "read" }, write("read-only", "y"), signal);
    await assertFails(prepared.commit(), "EXECUTION_FAILED", /read-only/);
    assert.equal(await text("read-only"), "x");
  });
});
