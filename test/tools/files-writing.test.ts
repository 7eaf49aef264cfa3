import assert from "node:assert/strict";
import { chmod, lstat, mkdir, readdir, readlink, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { blake3, ContentRole, fromBinary, type JsonValue, RecordContentSchema, toHex } from "@narthex/contracts";
import { defineTool } from "narthex";
import { codeOf, createFileKernel, type FileKernel } from "./file-kernel.ts";

/** Code of an embedder, which may have done anything before it uses a port, and lets the port's error through. */
const careless = defineTool({
  name: "careless",
  description: "Changes something by itself, then writes a file that is there.",
  inputSchema: true,
  effects: ["fs_write"],
  capabilities: [{ kind: "fs_write", prefixes: [] }],
  needs: (_, { workspace }) => [{ kind: "fs_write", prefixes: [workspace] }],
  async run(_, { files }) {
    await files.run({ kind: "write", path: "full", content: new Uint8Array(), mode: "create_only" });
    return null;
  },
});

const hashOf = (content: string | Uint8Array): string => toHex(blake3(Buffer.from(content)));

describe("changing files through a kernel", { timeout: 120_000 }, () => {
  let at: FileKernel;
  before(async () => {
    at = await createFileKernel({
      tools: [careless],
      policies: [{ name: "own.cedar", text: 'permit(principal, action == Action::"careless", resource);' }],
    });
  });
  after(() => at[Symbol.asyncDispose]());

  const isThere = async (path: string): Promise<boolean> =>
    await lstat(at.at(path)).then(
      () => true,
      () => false,
    );

  it("file_write creates a file with its directories, replaces it, and returns both hashes", async () => {
    assert.deepEqual(await at.ask("file_write", { path: "new/deep/a.txt", content: "one" }), {
      bytes: 3,
      created: true,
      hash_after: hashOf("one"),
      hash_before: null,
    });
    assert.deepEqual(await at.ask("file_write", { path: "new/deep/a.txt", content: "zwölf" }), {
      bytes: 6,
      created: false,
      hash_after: hashOf("zwölf"),
      hash_before: hashOf("one"),
    });
    assert.equal(await at.text("new/deep/a.txt"), "zwölf");
    assert.deepEqual(await readdir(at.at("new/deep")), ["a.txt"], "nothing temporary is left");
  });

  it("writing needs the capability to write below a path, and a capability to read is not enough", async () => {
    await at.put("rights/in/a.txt", "a");
    const open = (kind: "fs_read" | "fs_write") =>
      at.kernel.session({
        workspace: at.workspace,
        lease: { capabilities: [{ kind, prefixes: [at.at("rights/in")] }] },
      });
    const [reader, writer] = [await open("fs_read"), await open("fs_write")];
    const write = async (by: typeof reader, path: string) =>
      (await by.call("file_write", { path, content: "b" })).response.result;
    assert.equal((await reader.call("file_read", { path: "rights/in/a.txt" })).status, "success");
    assert.equal(codeOf(await write(reader, "rights/in/a.txt")), "CAPABILITY_MISSING");
    assert.equal(await at.text("rights/in/a.txt"), "a");
    assert.equal((await write(writer, "rights/in/a.txt")).case, "success");
    assert.equal(codeOf(await write(writer, "rights/out.txt")), "CAPABILITY_MISSING");
    const { response } = await writer.call("file_read", { path: "rights/in/a.txt" });
    assert.equal(codeOf(response.result), "CAPABILITY_MISSING");
    assert.equal(await isThere("rights/out.txt"), false);
  });

  it("new files belong to the workspace's owner", async () => {
    await at.ask("file_write", { path: "owned/by.txt", content: "x" });
    const { uid } = await lstat(at.workspace);
    assert.deepEqual([(await lstat(at.at("owned"))).uid, (await lstat(at.at("owned/by.txt"))).uid], [uid, uid]);
  });

  it("base64 content is decoded, and invalid base64 is rejected", async () => {
    const bytes = Buffer.from([0, 255, 10, 13]);
    await at.ask("file_write", { path: "bytes", content: bytes.toString("base64"), encoding: "base64" });
    assert.equal(await at.text("bytes"), bytes.toString());
    for (const content of ["no base64!", "AAA*", "A"]) {
      assert.equal(await at.refused("file_write", { path: "bytes2", content, encoding: "base64" }), "INVALID_INPUT");
    }
    assert.equal(await isThere("bytes2"), false);
  });

  it("a write keeps the file's mode", async () => {
    await at.put("script.sh", "old");
    await chmod(at.at("script.sh"), 0o754);
    await at.ask("file_write", { path: "script.sh", content: "new" });
    assert.equal((await lstat(at.at("script.sh"))).mode & 0o7777, 0o754);
    await at.ask("file_edit", { path: "script.sh", old_content: "new", new_content: "newer" });
    await at.ask("file_write", { path: "script.sh", content: "!", append: true });
    assert.equal((await lstat(at.at("script.sh"))).mode & 0o7777, 0o754);
    assert.equal(await at.text("script.sh"), "newer!");
  });

  it("create_only keeps an existing file, and of many concurrent calls exactly one wins", async () => {
    await at.put("taken", "mine");
    assert.equal(await at.refused("file_write", { path: "taken", content: "x", create_only: true }), "FILE_EXISTS");
    assert.equal(await at.text("taken"), "mine");
    await symlink("nowhere", at.at("dangling"));
    await at.own();
    assert.equal(await at.refused("file_write", { path: "dangling", content: "x", create_only: true }), "FILE_EXISTS");
    assert.equal(await readlink(at.at("dangling")), "nowhere");
    const writers = Array.from({ length: 20 }, (_, index) => `writer ${index}`);
    const results = await Promise.all(
      writers.map((content) => at.session.call("file_write", { path: "raced", content, create_only: true })),
    );
    const winners = writers.filter((_, index) => results[index]?.status === "success");
    assert.deepEqual(winners, [await at.text("raced")]);
    const losers = results.filter(({ status }) => status !== "success");
    assert.deepEqual(new Set(losers.map(({ response }) => codeOf(response.result))), new Set(["FILE_EXISTS"]));
  });

  it("an error says that nothing changed exactly when that is certain", async () => {
    await at.put("full", "text text");
    await symlink("/etc", at.at("out"));
    await at.own();
    const nothing: readonly (readonly [string, JsonValue, string])[] = [
      ["file_write", { path: "full", content: "x", create_only: true }, "FILE_EXISTS"],
      ["file_write", { path: "out/x", content: "x" }, "PATH_ESCAPE"],
      ["file_write", { path: "full/x", content: "x" }, "NOT_A_DIRECTORY"],
      ["file_edit", { path: "full", old_content: "no", new_content: "x" }, "NO_MATCH"],
      ["file_edit", { path: "full", old_content: "text", new_content: "x" }, "MULTIPLE_MATCHES"],
      ["file_edit", { path: "absent", old_content: "a", new_content: "b" }, "FILE_NOT_FOUND"],
      ["file_delete", { path: "absent" }, "FILE_NOT_FOUND"],
      ["file_move", { source: "absent", destination: "b" }, "FILE_NOT_FOUND"],
      ["artifact_publish", { artifact_id: "a", content_hash: "0".repeat(64), category: "c" }, "CONTENT_NOT_FOUND"],
    ];
    for (const [tool, input, code] of nothing) {
      const { result } = (await at.session.call(tool, input)).response;
      assert.ok(result.case === "error", tool);
      assert.deepEqual([result.value.errorCode, result.value.effectsPossible], [code, false], JSON.stringify(input));
    }
    assert.equal(await at.text("full"), "text text");
    const unsure = (await at.session.call("careless", {})).response.result;
    assert.ok(unsure.case === "error", JSON.stringify(unsure.case));
    assert.deepEqual([unsure.value.errorCode, unsure.value.effectsPossible], ["FILE_EXISTS", true]);
  });

  it("append adds at the end, and creates a missing file", async () => {
    await at.ask("file_write", { path: "log/new", content: "a", append: true });
    const answer = await at.ask("file_write", { path: "log/new", content: "b\n", append: true });
    assert.deepEqual(answer, { bytes: 2, created: false, hash_after: hashOf("ab\n"), hash_before: hashOf("a") });
    assert.equal(await at.text("log/new"), "ab\n");
    assert.equal(
      await at.refused("file_write", { path: "log/new", content: "x", append: true, create_only: true }),
      "INVALID_INPUT",
    );
  });

  it("FileWrite on the wire carries any bytes, create_only and append, and never both", async () => {
    const bytes = Uint8Array.of(0, 0xff, 0xfe);
    const write = (value: object) => at.send({ case: "fileWrite", value: { path: "wire.bin", ...value } });
    assert.equal((await write({ content: bytes, createOnly: true })).case, "success");
    assert.equal(codeOf(await write({ content: Buffer.from("x"), createOnly: true })), "FILE_EXISTS");
    assert.equal((await write({ content: Buffer.from("abc"), append: true })).case, "success");
    const result = await at.send({ case: "fileRead", value: { path: "wire.bin" } });
    assert.ok(result.case === "success");
    assert.deepEqual(Buffer.from(result.value.inlineResult), Buffer.concat([bytes, Buffer.from("abc")]));
    assert.match(codeOf(await write({ content: bytes, append: true, createOnly: true })), /^INVALID_/);
    assert.equal((await write({ content: new Uint8Array() })).case, "success");
    assert.equal(await at.text("wire.bin"), "");
    for (const path of ["", "a\0b", "../up", "x".repeat(4097)]) {
      assert.match(codeOf(await at.send({ case: "fileWrite", value: { path, content: bytes } })), /^INVALID_/, path);
    }
  });

  it("file_edit replaces exactly one occurrence, and keeps CRLF and a missing final newline", async () => {
    await at.put("crlf", "one\r\ntwo\r\nthree");
    assert.deepEqual(await at.ask("file_edit", { path: "crlf", old_content: "two\r\n", new_content: "2\r\n" }), {
      hash_after: hashOf("one\r\n2\r\nthree"),
      hash_before: hashOf("one\r\ntwo\r\nthree"),
      lines: [2],
    });
    assert.equal(await at.text("crlf"), "one\r\n2\r\nthree");
    const wire = await at.send({ case: "fileEdit", value: { path: "crlf", oldContent: "three", newContent: "3" } });
    assert.equal(wire.case, "success");
    assert.equal(await at.text("crlf"), "one\r\n2\r\n3");
  });

  it("an edit that does not match exactly once changes nothing and says how often and where it matched", async () => {
    const text = "aaa\nb\naa\n";
    await at.put("many", text);
    const before = await lstat(at.at("many"));
    const edit = async (old: string) => {
      const { response } = await at.session.call("file_edit", { path: "many", old_content: old, new_content: "x" });
      const { result } = response;
      return result.case === "error" ? [result.value.errorCode, result.value.message] : assert.fail(result.case);
    };
    const [code, message = ""] = await edit("aa");
    assert.equal(code, "MULTIPLE_MATCHES");
    assert.match(message, /\b3\b.*lines? 1\b.*3\b/, "overlapping ones count: two on the first line, one on the third");
    assert.equal((await edit("absent"))[0], "NO_MATCH");
    assert.equal(await at.refused("file_edit", { path: "many", old_content: "", new_content: "x" }), "INVALID_INPUT");
    assert.match(
      codeOf(await at.send({ case: "fileEdit", value: { path: "many", oldContent: "", newContent: "x" } })),
      /^INVALID_/,
    );
    assert.equal(
      codeOf(await at.send({ case: "fileEdit", value: { path: "many", oldContent: "aa", newContent: "x" } })),
      "MULTIPLE_MATCHES",
    );
    assert.equal(await at.text("many"), text);
    assert.equal((await lstat(at.at("many"))).ino, before.ino, "it is the very same file");
    await at.ask("file_edit", { path: "many", old_content: "aa", new_content: "c", replace_all: true });
    assert.equal(await at.text("many"), "ca\nb\nc\n");
    await at.put("binary", Buffer.from([0xff, 0x61, 0xff]));
    assert.equal(await at.refused("file_edit", { path: "binary", old_content: "a", new_content: "b" }), "NOT_TEXT");
  });

  it("a half-done edit is never visible to concurrent readers", async () => {
    const letters = ["a", "b", "c", "d", "e", "f"];
    const size = 500_000;
    await at.put("whole", "a".repeat(size));
    let isDone = false;
    const seen = new Set<string>();
    const reading = (async () => {
      while (!isDone) {
        const text = await at.text("whole");
        assert.equal(text, (text[0] ?? "?").repeat(size));
        seen.add(text.charAt(0));
      }
    })();
    for (const [index, letter] of letters.slice(1).entries()) {
      const old = (letters[index] ?? "").repeat(size);
      await at.ask("file_edit", { path: "whole", old_content: old, new_content: letter.repeat(size) });
    }
    isDone = true;
    await reading;
    assert.equal(await at.text("whole"), "f".repeat(size));
    assert.ok(seen.size > 1, "it was read while it changed");
  });

  it("file_delete removes files and links, directories only if empty or recursive, and never follows a link", async () => {
    await at.put("gone/kept/file", "kept");
    await symlink("kept", at.at("gone/link"));
    await at.put("gone/file", "x");
    await at.own();
    assert.equal(await at.refused("file_delete", { path: "gone" }), "DIRECTORY_NOT_EMPTY");
    assert.deepEqual(await at.ask("file_delete", { path: "gone/link" }), { count: 1, deleted: ["gone/link"] });
    assert.equal(await at.text("gone/kept/file"), "kept");
    await mkdir(join(at.root, "outside"));
    await writeFile(join(at.root, "outside/precious"), "precious");
    await symlink(join(at.root, "outside"), at.at("gone/out"));
    await at.own();
    const answer = await at.askObject("file_delete", { path: "gone", recursive: true });
    assert.equal(answer["count"], 5);
    assert.deepEqual([...(answer["deleted"] as string[])].sort(), [
      "gone",
      "gone/file",
      "gone/kept",
      "gone/kept/file",
      "gone/out",
    ]);
    assert.equal(await at.text("../outside/precious"), "precious");
    await mkdir(at.at("empty"));
    await at.own();
    assert.deepEqual(await at.ask("file_delete", { path: "empty" }), { count: 1, deleted: ["empty"] });
    assert.equal(await at.refused("file_delete", { path: "empty" }), "FILE_NOT_FOUND");
    assert.notEqual(await at.refused("file_delete", { path: ".", recursive: true }), "");
    assert.ok(await isThere("."));
  });

  it("file_move renames and moves, and replaces only if asked to", async () => {
    await at.put("from/a", "a");
    await at.put("to/b", "b");
    const move = { source: "from/a", destination: "to/b" };
    assert.equal(await at.refused("file_move", move), "FILE_EXISTS");
    assert.deepEqual([await at.text("from/a"), await at.text("to/b")], ["a", "b"]);
    assert.deepEqual(await at.ask("file_move", { ...move, overwrite: true }), { ...move, replaced: true });
    assert.equal(await at.text("to/b"), "a");
    const directory = { source: "to", destination: "else/where" };
    assert.deepEqual(await at.ask("file_move", directory), { ...directory, replaced: false });
    assert.equal(await at.text("else/where/b"), "a");
    assert.equal(await at.refused("file_move", { source: "to", destination: "x" }), "FILE_NOT_FOUND");
  });

  it("nothing outside is written, created or deleted, by any path", async () => {
    const outside = join(at.root, "precious");
    await mkdir(outside);
    await writeFile(join(outside, "file"), "precious");
    await symlink(outside, at.at("way-out"));
    await symlink(join(outside, "file"), at.at("file-out"));
    await symlink(join(outside, "new"), at.at("new-out"));
    await at.put("plain", "plain");
    const attempts: readonly (readonly [string, Record<string, JsonValue>])[] = [
      ...["way-out/new", "file-out", "new-out", "../precious/new", join(outside, "new"), "/proc/self/cwd/x"].flatMap(
        (path) =>
          [
            ["file_write", { path, content: "x" }],
            ["file_write", { path, content: "x", append: true }],
            ["file_write", { path, content: "x", create_only: true }],
            ["file_edit", { path, old_content: "precious", new_content: "x" }],
            ["file_move", { source: "plain", destination: path }],
          ] as const,
      ),
      ["file_delete", { path: "way-out/file" }],
      ["file_delete", { path: "../precious", recursive: true }],
      ["file_move", { source: "way-out/file", destination: "stolen" }],
    ];
    for (const [tool, input] of attempts) {
      const session = await at.kernel.session({ workspace: at.workspace });
      const { status } = await session.call(tool, input);
      assert.deepEqual(await readdir(outside), ["file"], `${tool} ${JSON.stringify(input)}: ${status}`);
      assert.equal(await at.text("../precious/file"), "precious");
      assert.equal(await isThere("stolen"), false);
      if (!(await isThere("plain"))) await at.put("plain", "plain");
    }
  });

  it("protected paths stay unchanged: in any case, below, above, missing ones, and by a link", async () => {
    await at.put(".git/config", "[core]");
    await at.put("sub/.GIT/hooks/pre-commit", "x");
    await symlink(".git", at.at("innocent"));
    await at.own();
    for (const [tool, input] of [
      ["file_write", { path: ".git/config", content: "x" }],
      ["file_write", { path: ".GIT/config", content: "x" }],
      ["file_write", { path: "sub/.git/config", content: "x" }],
      ["file_write", { path: "innocent/config", content: "x" }],
      ["file_write", { path: ".vscode/tasks.json", content: "x" }],
      ["file_write", { path: "a/b/.npmrc", content: "x" }],
      ["file_write", { path: ".envrc", content: "x" }],
      ["file_edit", { path: ".git/config", old_content: "core", new_content: "x" }],
      ["file_delete", { path: ".git", recursive: true }],
      ["file_move", { source: ".git", destination: "git" }],
      ["file_move", { source: "plain", destination: ".bashrc" }],
    ] as const) {
      assert.equal(await at.refused(tool, input), "NO_MATCHING_RULE", JSON.stringify(input));
    }
    assert.equal(await at.text(".git/config"), "[core]");
    for (const path of [".vscode", "a/b", ".envrc", "git", ".bashrc"]) assert.equal(await isThere(path), false, path);
  });

  it("the ledger holds what each call read and changed, with the content before, and stays complete", async () => {
    await at.put("kept", "before");
    const { requestId } = await at.session.call("file_edit", {
      path: "kept",
      old_content: "before",
      new_content: "after",
    });
    const stored = await at.kernel.findCall(at.session.id, requestId);
    assert.ok(stored !== undefined);
    const hash = toHex(blake3(Buffer.from("before")));
    const { changed } = filesOf(stored);
    assert.deepEqual(
      changed.map(({ path, before: state }) => [path, state?.["hash"]]),
      [["kept", hash]],
    );
    const reading = await at.session.call("file_read", { path: "kept" });
    const { read } = filesOf((await at.kernel.findCall(at.session.id, reading.requestId)) ?? assert.fail());
    assert.deepEqual(read, [{ path: "kept", offset: 0, size: 5, of: 5, hash: toHex(blake3(Buffer.from("after"))) }]);
    const status = await at.kernel.statContent(blake3(Buffer.from("before")));
    assert.ok(status?.holders.some(({ role, recordIndex }) => role === "preimage" && recordIndex === stored.index));
    const { verifyLedger } = await import("@narthex/verify");
    const report = await verifyLedger(at.kernel.ledgerSource());
    assert.deepEqual(report.problems, []);
  });
});

/** What a call's record says that it read and changed. */
function filesOf({ content }: { readonly content: Uint8Array }) {
  const { items } = fromBinary(RecordContentSchema, content);
  const list = items.find(({ role }) => role === ContentRole.FILES)?.data ?? assert.fail("no list of files");
  return JSON.parse(Buffer.from(list).toString()) as {
    readonly read: readonly object[];
    readonly changed: readonly { readonly path: string; readonly before?: Record<string, unknown> }[];
  };
}
