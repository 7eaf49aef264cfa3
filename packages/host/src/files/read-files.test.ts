import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import {
  assertFails,
  gather,
  inspect,
  list,
  listNames,
  read,
  readText,
  runAs,
  stateAt,
} from "./testing/file-operations.ts";
import { createScratchWorkspace, type ScratchWorkspace } from "./testing/scratch-workspace.ts";

describe("reading files of a workspace", () => {
  let scratch: ScratchWorkspace;
  before(async () => {
    scratch = await createScratchWorkspace();
    await mkdir(scratch.at("tree/b/c"), { recursive: true });
    await mkdir(scratch.at("tree/.hidden"));
    for (const name of ["a-b", "a/x.ts", "b/c/deep.ts", "b/two.js", "Z", "é", ".hidden/secret", ".dot"]) {
      await mkdir(scratch.at("tree/a"), { recursive: true });
      await writeFile(scratch.at(`tree/${name}`), name);
    }
    await symlink("/etc", scratch.at("tree/etc-link"));
    execFileSync("/usr/bin/mkfifo", [scratch.at("tree/pipe")]);
    await writeFile(scratch.at("text"), "0123456789");
    await writeFile(scratch.at("empty"), "");
    await scratch.own();
  });
  after(() => scratch[Symbol.asyncDispose]());

  for (const [path, code] of [
    ["../outside", "PATH_ESCAPE"],
    ["a/../../x", "PATH_ESCAPE"],
    ["/etc/passwd", "PATH_ESCAPE"],
    ["a//b", "INVALID_INPUT"],
    ["a/", "INVALID_INPUT"],
    ["./a", "INVALID_INPUT"],
    ["", "INVALID_INPUT"],
    ["a\0b", "INVALID_INPUT"],
    ["x".repeat(256), "INVALID_INPUT"],
    ["x/".repeat(2100) + "x", "INVALID_INPUT"],
    ["\ud800", "INVALID_INPUT"],
    ["none", "FILE_NOT_FOUND"],
    ["none/none", "FILE_NOT_FOUND"],
    ["text/below", "NOT_A_DIRECTORY"],
    ["tree", "NOT_A_FILE"],
    [".", "NOT_A_FILE"],
    ["tree/pipe", "NOT_A_FILE"],
  ] as const) {
    it(`refuses to read ${JSON.stringify(path.slice(0, 20))} with ${code}`, () =>
      assertFails(scratch.run(read(path)), code));
  }

  it("gives exactly the range that was asked for, and the size of the whole", async () => {
    assert.equal(await readText(scratch, "text"), "0123456789");
    assert.equal(await readText(scratch, "text", 3, 4), "3456");
    assert.equal(await readText(scratch, "text", 8, 100), "89");
    assert.equal(await readText(scratch, "text", 10), "");
    assert.equal(await readText(scratch, "text", 1_000_000), "");
    assert.equal(await readText(scratch, "empty"), "");
    const { size, length } = await runAs(scratch, "read", read("text", 3, 4));
    assert.deepEqual([size, length], [10, 4]);
  });

  it("gives a long file in pieces, byte for byte", async () => {
    const bytes = Buffer.alloc(3_000_001, "0123456789abcdef!");
    await writeFile(scratch.at("long"), bytes);
    const { content } = await runAs(scratch, "read", read("long"));
    assert.ok((await gather(content)).equals(bytes));
    assert.ok(
      Buffer.from(await readText(scratch, "long", 1_000_003, 1_000_000)).equals(bytes.subarray(1_000_003, 2_000_003)),
    );
  });

  it("says so if a file becomes shorter while it is read", async () => {
    await writeFile(scratch.at("shrinking"), Buffer.alloc(3_000_000));
    const { content } = await runAs(scratch, "read", read("shrinking"));
    await truncate(scratch.at("shrinking"), 10);
    await assertFails(gather(content), "EXECUTION_FAILED", /changed/);
  });

  it("reports the real path of what is open", async () => {
    await symlink("tree/b", scratch.at("to-b"));
    const prepared = await scratch.prepare(read("to-b/two.js"));
    assert.deepEqual(prepared.opened, ["tree/b/two.js"]);
    for await (const preimage of prepared.preimages()) assert.fail(`${preimage.path} would be replaced`);
    await prepared.abandon();
  });

  it("lists a directory sorted by bytes, without what is hidden", async () => {
    const { entries, partial } = await runAs(scratch, "list", list("tree"));
    assert.deepEqual(
      entries.map(({ name, kind, size }) => [name, kind, size]),
      [
        ["Z", "file", 1],
        ["a", "directory", 0],
        ["a-b", "file", 3],
        ["b", "directory", 0],
        ["etc-link", "link", 0],
        ["pipe", "other", 0],
        ["é", "file", 2],
      ],
    );
    assert.equal(partial, false);
  });

  it("lists deeper, hidden ones, and by glob, each directory before what is in it", async () => {
    const walked = ["Z", "a", "a/x.ts", "a-b", "b", "b/c", "b/two.js", "etc-link", "pipe", "é"];
    assert.deepEqual(await listNames(scratch, list("tree", { depth: 2 })), walked);
    assert.deepEqual(await listNames(scratch, list("tree", { depth: 9, glob: "*.ts" })), ["a/x.ts", "b/c/deep.ts"]);
    assert.deepEqual(await listNames(scratch, list("tree", { depth: 9, glob: "b/**/*.{ts,js}" })), [
      "b/c/deep.ts",
      "b/two.js",
    ]);
    const hidden = await listNames(scratch, list("tree", { depth: 2, hidden: true, glob: ".*" }));
    assert.deepEqual(hidden, [".dot", ".hidden"]);
  });

  it("says that a listing is partial, and only then", async () => {
    const cut = await runAs(scratch, "list", list("tree", { depth: 2, limit: 3 }));
    assert.deepEqual([cut.entries.map(({ name }) => name), cut.partial], [["Z", "a", "a/x.ts"], true]);
    const exact = await runAs(scratch, "list", list("tree", { depth: 2, limit: 10 }));
    assert.deepEqual([exact.entries.length, exact.partial], [10, false]);
  });

  it("refuses to list what is no directory", async () => {
    await assertFails(scratch.run(list("text")), "NOT_A_DIRECTORY");
    await assertFails(scratch.run(list("none")), "FILE_NOT_FOUND");
    await assertFails(scratch.run(list("tree/etc-link")), "PATH_ESCAPE");
  });

  it("tells what is at a path, and follows no link for it", async () => {
    assert.deepEqual(await stateAt(scratch, "none/none"), { kind: "absent" });
    assert.deepEqual(await stateAt(scratch, "tree/etc-link"), { kind: "link", target: "/etc" });
    assert.deepEqual(await stateAt(scratch, "tree/pipe"), { kind: "other" });
    assert.equal((await stateAt(scratch, "tree")).kind, "directory");
    assert.equal((await runAs(scratch, "inspect", inspect("text"))).state.kind, "file");
  });

  it("takes names that are unusual, and shows those that are not UTF-8", async () => {
    const names = ["new\nline", "back\\slash", "[x]", "*", "-rf", " ", "\u202e"];
    await mkdir(scratch.at("names"));
    for (const name of names) await writeFile(scratch.at(`names/${name}`), name);
    await writeFile(Buffer.concat([Buffer.from(scratch.at("names/")), Buffer.from([0x62, 0xff, 0x63])]), "");
    await scratch.own();
    for (const name of names) assert.equal(await readText(scratch, `names/${name}`), name);
    const { entries } = await runAs(scratch, "list", list("names"));
    assert.deepEqual(
      entries.filter(({ isExact }) => !isExact).map(({ name }) => name),
      ["b\ufffdc"],
    );
    assert.deepEqual(new Set(entries.map(({ name }) => name)), new Set([...names, "b\ufffdc"]));
    await assertFails(scratch.run(read("names/b\ufffdc")), "FILE_NOT_FOUND");
  });
});
