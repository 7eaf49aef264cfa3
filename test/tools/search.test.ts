import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import { findRipgrep } from "@narthex/host";
import { codeOf, createFileKernel, type FileKernel } from "./file-kernel.ts";

const run = promisify(execFile);

describe("file_search through a kernel", { timeout: 180_000 }, () => {
  let at: FileKernel;
  before(async () => {
    at = await createFileKernel();
  });
  after(() => at[Symbol.asyncDispose]());

  const search = (input: JsonObject): Promise<JsonObject> => at.askObject("file_search", input);
  const matchesOf = (answer: JsonObject): JsonObject[] => {
    const { matches } = answer;
    assert.ok(Array.isArray(matches));
    return matches.map((match) => (isJsonObject(match) ? match : assert.fail()));
  };
  const placesOf = async (input: JsonObject): Promise<string[]> =>
    matchesOf(await search(input)).map(({ path, line }) => `${String(path)}:${String(line)}`);

  it("declares only reading files", () => {
    const facts = at.kernel
      .listTools({ allVersions: false })
      .find(({ declaration }) => declaration.name === "file_search");
    const { tier, determinism, effects, isolation } = facts?.declaration ?? assert.fail();
    assert.deepEqual([tier, determinism, effects, isolation], ["read_only", "deterministic", ["fs_read"], "process"]);
  });

  it("returns matching lines with path, line, column and text, and counts them", async () => {
    await at.put("plain/a.txt", "nothing\nthe grüße needle and a needle\r\n");
    await at.put("plain/b.txt", "needle");
    assert.deepEqual(await search({ pattern: "needle", path: "plain" }), {
      matches: [
        { column: 11, line: 2, path: "plain/a.txt", text: "the grüße needle and a needle" },
        { column: 1, line: 1, path: "plain/b.txt", text: "needle" },
      ],
      matching_files: 2,
      matching_lines: 2,
      partial: false,
      reason: null,
    });
    assert.deepEqual(await placesOf({ pattern: "no such thing", path: "plain" }), []);
  });

  it("returns the first max_matches in the order of paths, however many there are", async () => {
    const names = ["a/x", "a-b/x", "a.txt", "a/b/c", "B", "ä", "z/1", "z/10", "z/2"];
    for (const name of names) await at.put(`order/${name}`, "hit\nhit\nhit\n");
    const { stdout } = await run(await findRipgrep(), ["--no-config", "--sort=path", "--files", "./"], {
      cwd: at.at("order"),
    });
    const expected = stdout
      .split("\n")
      .filter(Boolean)
      .map((line) => line.slice(2));
    assert.equal(expected.length, names.length);
    const all = await placesOf({ pattern: "hit", path: "order" });
    assert.deepEqual(
      all,
      expected.flatMap((name) => [1, 2, 3].map((line) => `order/${name}:${line}`)),
    );
    for (const most of [1, 2, 3, 4, 26, 27]) {
      const answer = await search({ pattern: "hit", path: "order", max_matches: most });
      assert.deepEqual(
        matchesOf(answer).map(({ path, line }) => `${String(path)}:${String(line)}`),
        all.slice(0, most),
      );
      assert.deepEqual([answer["matching_lines"], answer["matching_files"]], [27, 9]);
      assert.equal(answer["partial"], most < 27);
      if (most === 4) assert.equal(answer["reason"], "these are the first 4 of 27 matching lines");
    }
  });

  it("returns more matches than it counts in the same order, and says that it stopped", async () => {
    const line = `${"x".repeat(200)}\n`;
    for (const name of ["flood/b", "flood/a", "flood/c"]) await at.put(name, line.repeat(60_000));
    const answer = await search({ pattern: "x", path: "flood", max_matches: 2, context: 1 });
    assert.deepEqual(
      matchesOf(answer).map(({ path, line: number }) => [path, number]),
      [
        ["flood/a", 1],
        ["flood/a", 2],
      ],
    );
    assert.equal(answer["partial"], true);
    assert.match(String(answer["reason"]), /too many matches to count/);
  });

  it("respects .gitignore unless asked, above and below, with a glob and without git", async () => {
    await at.put("ig/.gitignore", "*.log\nbuild/\n!kept.log\n");
    for (const name of ["a.ts", "b.log", "kept.log", "build/c.ts", ".hidden/d.ts", ".env", "sub/e.log", "sub/f.ts"]) {
      await at.put(`ig/${name}`, "needle");
    }
    const found = async (input: JsonObject) =>
      (await placesOf({ pattern: "needle", path: "ig", ...input })).map((place) => place.replace(/^ig\/|:1$/g, ""));
    assert.deepEqual(await found({}), ["a.ts", "kept.log", "sub/f.ts"]);
    assert.deepEqual(await found({ ignored: true }), [
      "a.ts",
      "b.log",
      "build/c.ts",
      "kept.log",
      "sub/e.log",
      "sub/f.ts",
    ]);
    assert.deepEqual(await found({ hidden: true }), [".env", ".hidden/d.ts", "a.ts", "kept.log", "sub/f.ts"]);
    assert.deepEqual(await found({ glob: "*.log" }), ["kept.log"]);
    assert.deepEqual(await found({ glob: "*" }), ["a.ts", "kept.log", "sub/f.ts"]);
    assert.deepEqual(await found({ glob: ".env" }), []);
    assert.deepEqual(await found({ glob: "!*.log" }), ["a.ts", "sub/f.ts"]);
    assert.deepEqual(await found({ glob: "sub/*.ts" }), ["sub/f.ts"]);
    assert.deepEqual(await found({ glob: "*.log", ignored: true }), ["b.log", "kept.log", "sub/e.log"]);
    assert.deepEqual(await placesOf({ pattern: "needle", path: "ig/sub" }), ["ig/sub/f.ts:1"]);
  });

  it("literal, case and context work as documented", async () => {
    await at.put("options/a", "one\ntwo a.c\nthree ABC\nfour abc\nfive\n");
    const lines = async (input: JsonObject) =>
      matchesOf(await search({ path: "options", ...input })).map(({ line }) => line);
    assert.deepEqual(await lines({ pattern: "a.c" }), [2, 4]);
    assert.deepEqual(await lines({ pattern: "a.c", literal: true }), [2]);
    assert.deepEqual(await lines({ pattern: "abc", case: "insensitive" }), [3, 4]);
    assert.deepEqual(await lines({ pattern: "abc", case: "smart" }), [3, 4]);
    assert.deepEqual(await lines({ pattern: "ABC", case: "smart" }), [3]);
    assert.deepEqual(matchesOf(await search({ pattern: "ABC|abc", path: "options", context: 2 })), [
      {
        after: ["four abc", "five"],
        before: ["one", "two a.c"],
        column: 7,
        line: 3,
        path: "options/a",
        text: "three ABC",
      },
      { after: ["five"], before: ["two a.c", "three ABC"], column: 6, line: 4, path: "options/a", text: "four abc" },
    ]);
  });

  it("searches one file by its path, hidden and ignored ones too, and through a link inside", async () => {
    await at.put("one/.hidden", "a\nneedle\n");
    await symlink("one/.hidden", at.at("one-link"));
    await symlink("one", at.at("one-directory"));
    await at.own();
    assert.deepEqual(await placesOf({ pattern: "needle", path: "one/.hidden" }), ["one/.hidden:2"]);
    assert.deepEqual(await placesOf({ pattern: "needle", path: "one-link" }), ["one-link:2"]);
    assert.deepEqual(await placesOf({ pattern: "needle", path: "one-directory", hidden: true }), [
      "one-directory/.hidden:2",
    ]);
    assert.deepEqual(await placesOf({ pattern: "needle", path: at.at("one"), hidden: true }), [
      `${at.at("one")}/.hidden:2`,
    ]);
    assert.equal(await at.refused("file_search", { pattern: "x", path: "no-such" }), "FILE_NOT_FOUND");
  });

  it("skips binary files, also those that match before they prove binary", async () => {
    await at.put("binary/text", "needle\n");
    await at.put("binary/early", Buffer.from("\0\0needle\n"));
    await at.put("binary/late", Buffer.concat([Buffer.from("needle\n".repeat(20_000)), Buffer.of(0)]));
    assert.deepEqual(await placesOf({ pattern: "needle", path: "binary", max_matches: 10 }), ["binary/text:1"]);
    assert.deepEqual(await placesOf({ pattern: "needle", path: "binary/late" }), []);
  });

  it("rejects a pattern or glob that ripgrep cannot parse as INVALID_INPUT, with ripgrep's reason", async () => {
    for (const [input, reason] of [
      [{ pattern: "(unclosed" }, /unclosed group/],
      [{ pattern: "a{1000}{1000}{1000}" }, /size limit|exceeds/],
      [{ pattern: "(?=look)" }, /look-around/],
      [{ pattern: "x", glob: "[z-" }, /glob/],
      [{ pattern: "a\0b" }, /NUL/],
      [{ pattern: "" }, /must not be empty/],
    ] as const) {
      const { response } = await at.session.call("file_search", input);
      const { result } = response;
      assert.equal(codeOf(result), "INVALID_INPUT", JSON.stringify(input));
      assert.match(result.case === "error" ? result.value.message : "", reason);
    }
  });

  it("text that looks like an option is a pattern, a glob or a path, and never runs or reads anything", async () => {
    await at.put("flags/--pre=sh", "--pre\n-f/etc/passwd\n");
    await at.put("flags/evil.sh", "#!/bin/sh\ntouch /tmp/ran\n");
    await chmod(at.at("flags/evil.sh"), 0o755);
    await at.put("flags/.ripgreprc", "--pre=./evil.sh\n");
    for (const pattern of ["--pre", "-f/etc/passwd", "--pre=./evil.sh", "-z", "--hostname-bin=./evil.sh", "-", "--"]) {
      const found = matchesOf(await search({ pattern, literal: true, path: "flags" }));
      assert.ok(
        found.every(({ text }) => String(text).includes(pattern)),
        pattern,
      );
    }
    assert.deepEqual(await placesOf({ pattern: "--pre", path: "flags/--pre=sh" }), ["flags/--pre=sh:1"]);
    for (const glob of ["--pre=./evil.sh", "-f", "--no-ignore"]) {
      assert.deepEqual(await placesOf({ pattern: "touch", path: "flags", glob }), [], glob);
    }
    for (const extra of [{ flags: "--pre" }, { args: ["-z"] }]) {
      assert.equal(await at.refused("file_search", { pattern: "x", ...extra }), "INVALID_INPUT");
    }
  });

  it("searches nothing outside of the workspace, and follows no link below", async () => {
    await mkdir(join(at.root, "secret"));
    await writeFile(join(at.root, "secret/file"), "needle");
    await mkdir(at.at("links"));
    await symlink(join(at.root, "secret"), at.at("links/out"));
    await symlink(join(at.root, "secret/file"), at.at("links/file"));
    await symlink("/etc", at.at("links/etc"));
    await symlink(".", at.at("links/loop"));
    await at.own();
    assert.deepEqual(await placesOf({ pattern: "needle|root", path: "links", ignored: true, hidden: true }), []);
    for (const path of [
      "links/out",
      "links/file",
      "links/etc",
      "links/etc/passwd",
      "/etc",
      "../secret",
      join(at.root, "secret"),
    ]) {
      const session = await at.kernel.session({ workspace: at.workspace });
      const { response } = await session.call("file_search", { pattern: "needle|root", path });
      assert.match(codeOf(response.result), /^(?:PATH_ESCAPE|INVALID_INPUT)$/, path);
    }
  });

  it("searches only where the lease permits reading, also behind links", async () => {
    await at.put("leased/a", "needle");
    await at.put("other/b", "needle");
    await symlink("../other", at.at("leased/link"));
    await at.own();
    const lease = {
      tool_patterns: ["file_search"],
      capabilities: [{ kind: "fs_read" as const, prefixes: [at.at("leased")] }],
    };
    const session = await at.kernel.session({ workspace: at.workspace, lease });
    const codeFor = async (input: JsonValue) => {
      const { response, status } = await session.call("file_search", input);
      return status === "success" ? "success" : codeOf(response.result);
    };
    assert.equal(await codeFor({ pattern: "needle", path: "leased" }), "success");
    assert.equal(await codeFor({ pattern: "needle", path: "leased/link" }), "CAPABILITY_MISSING");
    assert.equal(await codeFor({ pattern: "needle", path: "other" }), "CAPABILITY_MISSING");
    assert.equal(await codeFor({ pattern: "needle" }), "CAPABILITY_MISSING");
  });

  it("reports unreadable files, along with all matches", async () => {
    await at.put("shut/a", "needle");
    await at.put("shut/b", "needle");
    await chmod(at.at("shut/a"), 0o000);
    const answer = await search({ pattern: "needle", path: "shut" });
    assert.deepEqual(
      matchesOf(answer).map(({ path }) => path),
      ["shut/b"],
    );
    assert.equal(answer["partial"], true);
    assert.match(
      String(answer["reason"]),
      /could not be read: .*shut.*a.*|could not be read: .*\.\/a: Permission denied/,
    );
  });

  it("a match in a secret file adds the label `secret`", async () => {
    await at.put("keys/.env", "TOKEN=needle");
    await at.put("keys/plain", "needle");
    for (const [input, labels] of [
      [{ pattern: "needle", path: "keys" }, []],
      [{ pattern: "no such", path: "keys", hidden: true }, []],
      [{ pattern: "needle", path: "keys", hidden: true, max_matches: 1 }, ["secret"]],
      [{ pattern: "no such", path: "keys/.env" }, ["secret"]],
    ] as const) {
      const session = await at.kernel.session({ workspace: at.workspace });
      const { metadata } = await session.call("file_search", input);
      assert.deepEqual(metadata.labels, labels, JSON.stringify(input));
    }
  });

  it("very long lines are shortened around their match", async () => {
    await at.put("long/min.js", `${"a".repeat(5000)}needle${"b".repeat(5_000_000)}\n`);
    const [match] = matchesOf(await search({ pattern: "needle", path: "long" }));
    assert.equal(match?.["column"], 5001);
    assert.match(String(match?.["text"]), /^a{200}needleb{794}$/);
  });
});
