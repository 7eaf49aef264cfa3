import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, link, mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, before, describe, it, test } from "node:test";
import { promisify } from "node:util";
import { blake3, toHex } from "@narthex/contracts";
import { codeOf, createFileKernel, type FileKernel } from "./file-kernel.ts";

const run = promisify(execFile);
const hashOf = (content: string | Uint8Array): string => toHex(blake3(Buffer.from(content)));

describe("reading files through a kernel", { timeout: 120_000 }, () => {
  let at: FileKernel;
  before(async () => {
    at = await createFileKernel();
  });
  after(() => at[Symbol.asyncDispose]());

  const read = async (input: Parameters<FileKernel["ask"]>[1]) => {
    const { response, hash } = await at.session.call("file_read", input);
    const { result } = response;
    if (result.case !== "success") assert.fail(`${codeOf(result)}: ${result.value?.message}`);
    const { inlineResult, view, cut, resultHash } = result.value;
    assert.deepEqual(Buffer.from(resultHash), Buffer.from(hash ?? []));
    return { text: Buffer.from(inlineResult).toString(), hash: toHex(resultHash), view, cut };
  };

  it("file tools declare exactly what they do", () => {
    const declared = new Map(
      at.kernel.listTools({ allVersions: false }).map(({ declaration }) => [declaration.name, declaration]),
    );
    const facts = (name: string) => {
      const { tier, determinism, effects, version } = declared.get(name) ?? assert.fail(name);
      return [tier, determinism, [...effects].join(" "), version];
    };
    for (const name of ["read_file", "file_read", "file_list"]) {
      assert.deepEqual(facts(name), ["read_only", "deterministic", "fs_read", "1.0.0"], name);
    }
    for (const name of ["file_write", "file_delete", "file_move"]) {
      assert.deepEqual(facts(name), ["side_effecting", "deterministic", "fs_write", "1.0.0"], name);
    }
    assert.deepEqual(facts("file_edit"), ["side_effecting", "deterministic", "fs_read fs_write", "1.0.0"]);
  });

  it("read_file returns an object with the text, and NOT_TEXT for binary files", async () => {
    await at.put("greeting.txt", "\uFEFFgrüße\r\n");
    assert.deepEqual(await at.ask("read_file", { path: "greeting.txt" }), { content: "\uFEFFgrüße\r\n" });
    await at.put("bytes.bin", Buffer.from([0xff, 0xfe, 0x00]));
    assert.equal(await at.refused("read_file", { path: "bytes.bin" }), "NOT_TEXT");
  });

  it("read_file needs a capability to read files, and a lease for one directory permits no other", async () => {
    await at.put("open/a.txt", "a");
    await at.put("shut/b.txt", "b");
    const lease = (prefix: string) => ({
      tool_patterns: ["read_file"],
      capabilities: [{ kind: "fs_read" as const, prefixes: [prefix] }],
    });
    const inside = await at.kernel.session({ workspace: at.workspace, lease: lease(at.at("open")) });
    assert.equal((await inside.call("read_file", { path: "open/a.txt" })).status, "success");
    assert.equal(
      codeOf((await inside.call("read_file", { path: "shut/b.txt" })).response.result),
      "CAPABILITY_MISSING",
    );
    await symlink("../shut/b.txt", at.at("open/link"));
    await at.own();
    const linked = await inside.call("read_file", { path: "open/link" });
    assert.equal(codeOf(linked.response.result), "CAPABILITY_MISSING", "a link leads where the lease does not");
  });

  it("file_read returns the bytes themselves, whose hash is the result's", async () => {
    const bytes = Buffer.from([0, 1, 2, 0xff, 0x0a, 0xc3, 0x28]);
    await at.put("raw.bin", bytes);
    const { hash, view } = await read({ path: "raw.bin" });
    assert.equal(hash, hashOf(bytes));
    assert.match(view, /^\[7 bytes that are not text; hash [0-9a-f]{64}\]$/);
    await at.put("empty", "");
    assert.deepEqual(await read({ path: "empty" }), { text: "", hash: hashOf(""), view: "", cut: false });
  });

  it("offset and limit count bytes; a limit of 0 reads the whole file, and an offset past the end reads nothing", async () => {
    await at.put("digits", "0123456789");
    for (const [input, text] of [
      [{ path: "digits" }, "0123456789"],
      [{ path: "digits", limit: 0 }, "0123456789"],
      [{ path: "digits", offset: 0, limit: 3 }, "012"],
      [{ path: "digits", offset: 7, limit: 100 }, "789"],
      [{ path: "digits", offset: 10 }, ""],
      [{ path: "digits", offset: 9_007_199_254_740_991 }, ""],
    ] as const) {
      assert.deepEqual(
        [(await read(input)).text, (await read(input)).hash],
        [text, hashOf(text)],
        JSON.stringify(input),
      );
    }
  });

  it("lines are selected by number: a model sees the numbers, the result holds only the lines", async () => {
    await at.put("lines", "one\r\ntwo\n\nfour");
    const whole = await read({ path: "lines", first_line: 1 });
    assert.equal(whole.text, "one\r\ntwo\n\nfour");
    assert.equal(whole.view, "     1\tone\r\n     2\ttwo\n     3\t\n     4\tfour");
    const some = await read({ path: "lines", first_line: 2, line_count: 2 });
    assert.deepEqual([some.text, some.hash, some.view], ["two\n\n", hashOf("two\n\n"), "     2\ttwo\n     3\t\n"]);
    assert.equal((await read({ path: "lines", line_count: 1 })).view, "     1\tone\r\n");
    assert.equal((await read({ path: "lines", first_line: 5 })).view, "");
    assert.equal(await at.refused("file_read", { path: "lines", first_line: 1, limit: 3 }), "INVALID_INPUT");
    assert.equal(await at.refused("file_read", { path: "lines", first_line: 0 }), "INVALID_INPUT");
  });

  it("line numbers count towards the view's size, and the next page begins where the view ended", async () => {
    const text = Array.from({ length: 5000 }, (_, index) => `ä${index}`).join("\n");
    await at.put("long", text);
    const { view, cut } = await read({ path: "long", first_line: 1 });
    assert.ok(cut);
    assert.ok(Buffer.byteLength(view) <= 16_384 && Buffer.byteLength(view) > 16_200, String(Buffer.byteLength(view)));
    const [, shown = "", hash = "", offset = ""] =
      /^([^]*)\n\[read on with result_read \{"hash":"(\w+)","offset":(\d+)\}\]\n\[output truncated — original size: [\d,]+ bytes\]$/.exec(
        view,
      ) ?? assert.fail(view.slice(-300));
    const rest = await at.session.call("result_read", { hash, offset: Number(offset), limit: 1_000_000 });
    assert.equal(rest.status, "success");
    const numbersGone = shown.replaceAll(/^ *\d+\t/gmu, "");
    assert.ok(text.startsWith(numbersGone));
    assert.equal(Buffer.from(text).subarray(Number(offset)).toString(), Buffer.from(rest.normalised ?? []).toString());
    assert.ok(Number(offset) - Buffer.byteLength(numbersGone) <= 1, offset);
  });

  it("a repeat shows the same numbers, from memory and from the ledger", async () => {
    await at.put("again", "a\nb\n");
    const viewOf = async () => {
      const call = { requestId: "repeat" };
      const { result } = (await at.session.call("file_read", { path: "again", first_line: 2 }, call)).response;
      return result.case === "success" && [result.value.repeatedAnswer, result.value.view];
    };
    assert.deepEqual(await viewOf(), [false, "     2\tb\n"]);
    assert.deepEqual(await viewOf(), [true, "     2\tb\n"]);
    // More answers than are remembered.
    await Promise.all(Array.from({ length: 1100 }, (_, other) => at.session.call("echo", other)));
    assert.deepEqual(await viewOf(), [true, "     2\tb\n"]);
  });

  it("FileRead on the wire equals file_read: relative to the working directory, a limit of 0 reads to the end", async () => {
    await at.put("sub/wire.txt", "by wire");
    for (const value of [
      { path: "sub/wire.txt", limit: 0n },
      { path: at.at("sub/wire.txt"), limit: 0n },
      { path: "/workspace/sub/wire.txt", offset: 0n, limit: 1_073_741_824n },
    ]) {
      const result = await at.send({ case: "fileRead", value });
      assert.equal(result.case === "success" && Buffer.from(result.value.inlineResult).toString(), "by wire");
    }
    const there = await at.kernel.session({ workspace: at.workspace, workingDirectory: at.at("sub") });
    const { normalised } = await there.call("file_read", { path: "wire.txt" });
    assert.equal(Buffer.from(normalised ?? []).toString(), "by wire");
  });

  it("FileRead rejects empty and long paths, NUL, two dots, and more than a gigabyte", async () => {
    for (const value of [
      { path: "" },
      { path: "x".repeat(4097) },
      { path: "a\0b" },
      { path: "../outside" },
      { path: "sub/../../outside" },
      { path: "a", limit: 1_073_741_825n },
    ]) {
      assert.match(codeOf(await at.send({ case: "fileRead", value })), /^INVALID_(?:REQUEST|INPUT)$/, value.path);
    }
  });

  it("file_list returns sorted entries: recursive, by depth, by glob, with hidden ones, cut at a limit", async () => {
    for (const path of ["list/b.ts", "list/a/x.ts", "list/a/deep/y.ts", "list/.hidden", "list/B.md"]) {
      await at.put(path, path);
    }
    await symlink("b.ts", at.at("list/link"));
    await at.own();
    const names = async (options: object) => {
      const entries = await at.ask("file_list", { path: "list", ...options });
      assert.ok(Array.isArray(entries));
      return entries.map((entry) => (entry as { name: string }).name);
    };
    assert.deepEqual(await at.ask("file_list", { path: "list" }), [
      { kind: "file", name: "B.md", size: 9 },
      { kind: "directory", name: "a", size: 0 },
      { kind: "file", name: "b.ts", size: 9 },
      { kind: "link", name: "link", size: 0 },
    ]);
    assert.deepEqual(await names({ recursive: true }), [
      "B.md",
      "a",
      "a/deep",
      "a/deep/y.ts",
      "a/x.ts",
      "b.ts",
      "link",
    ]);
    assert.deepEqual(await names({ depth: 2 }), ["B.md", "a", "a/deep", "a/x.ts", "b.ts", "link"]);
    assert.deepEqual(await names({ recursive: true, glob: "**/*.ts" }), ["a/deep/y.ts", "a/x.ts", "b.ts"]);
    assert.deepEqual(await names({ hidden: true, limit: 2 }), [".hidden", "B.md"]);
    assert.equal(await at.refused("file_list", { path: "list/b.ts" }), "NOT_A_DIRECTORY");
  });

  it("a missing path is FILE_NOT_FOUND, and a directory is NOT_A_FILE", async () => {
    await mkdir(at.at("directory"));
    await at.own();
    for (const tool of ["read_file", "file_read"]) {
      assert.equal(await at.refused(tool, { path: "no-such" }), "FILE_NOT_FOUND");
      assert.equal(await at.refused(tool, { path: "directory" }), "NOT_A_FILE");
    }
    assert.equal(await at.refused("file_list", { path: "no-such" }), "FILE_NOT_FOUND");
  });

  it("a FIFO, a socket and a device return NOT_A_FILE at once", async (context) => {
    await run("mkfifo", [at.at("pipe")]);
    const server = createServer().listen(at.at("socket"));
    context.after(() => server.close());
    await symlink("/dev/zero", at.at("zero"));
    await at.own();
    for (const path of ["pipe", "socket"]) {
      for (const tool of ["read_file", "file_read"]) assert.equal(await at.refused(tool, { path }), "NOT_A_FILE", path);
      assert.equal(await at.refused("file_write", { path, content: "x" }), "NOT_A_FILE", path);
      assert.equal(await at.refused("file_edit", { path, old_content: "x", new_content: "y" }), "NOT_A_FILE", path);
    }
    assert.equal(await at.refused("file_read", { path: "zero" }), "PATH_ESCAPE");
  });

  it("an empty sparse file of a terabyte is read in parts, and not as a whole text", async () => {
    await writeFile(at.at("sparse"), "start");
    await truncate(at.at("sparse"), 2 ** 40);
    await at.own();
    assert.equal((await read({ path: "sparse", limit: 5 })).text, "start");
    assert.equal((await read({ path: "sparse", offset: 2 ** 40 - 2 })).text, "\0\0");
    assert.equal(await at.refused("read_file", { path: "sparse" }), "RESOURCE_EXCEEDED");
  });

  it("no path leads outside: two dots, absolute paths, links, linked parents, /proc", async () => {
    await writeFile(join(at.root, "secret"), "outside");
    await mkdir(join(at.root, "elsewhere"));
    await writeFile(join(at.root, "elsewhere/secret"), "outside");
    await symlink("../secret", at.at("link-up"));
    await symlink(join(at.root, "secret"), at.at("link-out"));
    await symlink(join(at.root, "elsewhere"), at.at("link-directory"));
    await symlink("loop-b", at.at("loop-a"));
    await symlink("loop-a", at.at("loop-b"));
    await symlink("/proc/self/root", at.at("proc"));
    await at.own();
    for (const path of [
      "../secret",
      "a/../../secret",
      `${at.workspace}/../secret`,
      join(at.root, "secret"),
      "/etc/passwd",
      "/proc/self/environ",
      "/proc/self/root/etc/passwd",
      "link-up",
      "link-out",
      "link-directory/secret",
      "proc/etc/passwd",
      "loop-a",
      "..\\secret",
      "a\0b",
      "x".repeat(4097),
      `${"d/".repeat(100)}${"x".repeat(256)}`,
    ]) {
      // Attempts to get out quarantine a session; each path has one of its own.
      const session = await at.kernel.session({ workspace: at.workspace });
      for (const tool of ["read_file", "file_read", "file_list"]) {
        const code = codeOf((await session.call(tool, { path })).response.result);
        assert.match(
          code,
          /^(?:PATH_ESCAPE|INVALID_INPUT|NOT_A_FILE|NOT_A_DIRECTORY|FILE_NOT_FOUND|EXECUTION_FAILED)$/,
        );
        if (/secret|passwd|environ/.test(path))
          assert.match(code, /^(?:PATH_ESCAPE|INVALID_INPUT)$/, `${tool} ${path}`);
      }
    }
  });

  it("unusual names work: spaces, stars, brackets, line breaks, emoji, a leading dash", async () => {
    for (const name of ["a b", "*", "[x]", "line\nbreak", "📄", "-rf", "~", "$HOME"]) {
      await at.put(`odd/${name}`, name);
      assert.equal((await read({ path: `odd/${name}` })).text, name);
    }
    assert.equal(await at.refused("file_read", { path: "odd/[a-z]" }), "FILE_NOT_FOUND");
  });

  it("a hard link to a file outside can be read, but writing to it stays inside", async () => {
    await writeFile(join(at.root, "original"), "original");
    await chmod(join(at.root, "original"), 0o644);
    await link(join(at.root, "original"), at.at("hard"));
    const { status } = await at.session.call("file_write", { path: "hard", content: "changed" });
    assert.equal(status, "success");
    assert.equal(await at.text("hard"), "changed");
    assert.equal(await at.text("../original"), "original");
  });

  it("a session that reads a secret path gets the label `secret`, through links and after a move too", async () => {
    for (const [label, prepare, tool, input] of [
      ["plain", async () => {}, "file_read", { path: "conf/plain.env" }],
      ["listed", async () => {}, "file_list", { path: ".", hidden: true }],
      ["read", async () => {}, "file_read", { path: "conf/.env" }],
      ["read_file", async () => {}, "read_file", { path: "conf/.ENV" }],
      ["link", () => symlink("conf/.env", at.at("innocent")), "file_read", { path: "innocent" }],
      ["below", async () => {}, "file_read", { path: ".ssh/config" }],
      ["moved", async () => {}, "file_move", { source: "conf/id_rsa", destination: "conf/notes" }],
    ] as const) {
      await at.put("conf/plain.env", "x");
      await at.put("conf/.env", "KEY=1");
      await at.put("conf/.ENV", "KEY=1");
      await at.put("conf/id_rsa", "KEY=1");
      await at.put(".ssh/config", "x");
      await prepare();
      await at.own();
      const session = await at.kernel.session({ workspace: at.workspace });
      const { status, metadata } = await session.call(tool, input);
      assert.equal(status, "success", label);
      const expected = label === "plain" || label === "listed" ? [] : ["secret"];
      assert.deepEqual(metadata.labels, expected, label);
      assert.deepEqual((await at.kernel.getSession(session.id))?.session.labels, expected, label);
      assert.deepEqual((await session.call("echo", 1)).metadata.labels, expected, label);
    }
  });
});

test("the configuration defines which paths are secret", { timeout: 60_000 }, async () => {
  await using at = await createFileKernel({ configuration: "secret_paths: [keys/*.txt]\n" });
  await at.put("keys/a.txt", "a");
  await at.put(".env", "KEY=1");
  const labelsOf = async (path: string) => (await at.session.call("file_read", { path })).metadata.labels;
  assert.deepEqual(await labelsOf(".env"), []);
  assert.deepEqual(await labelsOf("keys/a.txt"), ["secret"]);
});
