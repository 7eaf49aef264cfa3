import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, it } from "node:test";
import fc from "fast-check";
import { namedBySetting } from "./git-settings.ts";
import { type GitSetting, parseGitConfig } from "./parse-git-config.ts";

const ENVIRONMENT = { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" };

/** What git itself reads, up to the first line that it rejects. */
function readByGit(text: string): GitSetting[] {
  const command = ["config", "--file", "-", "--no-includes", "--list", "-z"];
  const { stdout } = spawnSync("git", command, { input: text, env: ENVIRONMENT, encoding: "utf8" });
  const entries = stdout.split("\0").slice(0, -1);
  return entries.map((entry) => {
    const end = entry.indexOf("\n");
    return end === -1 ? { key: entry, value: undefined } : { key: entry.slice(0, end), value: entry.slice(end + 1) };
  });
}

/** Versions of git differ in whether white space between words is kept as it is. */
function withPlainSpaces(settings: readonly GitSetting[]): GitSetting[] {
  return settings.map(({ key, value }) => ({ key, value: value?.replace(/[\t\r]/g, " ") }));
}

const PIECES = [
  "[core]",
  '[core "a.b"]',
  '[includeIf "gitdir:~/x"]',
  '[include "q\\"\\\\w"]',
  "[Core.Sub]",
  "[core",
  "hooksPath",
  "path",
  " = ",
  "=",
  ".githooks",
  "dir with  space",
  '"quoted ; value"',
  '"open',
  "\\t",
  "\\n",
  '\\"',
  "\\\\",
  "\\\n",
  "\\\r\n",
  "\\x",
  " ; comment",
  " # comment",
  "\n",
  "\n\t",
  "\r\n",
  "\r",
  " ",
  "\t",
  "é",
  "1",
  "-",
  "_",
];

describe("git's configuration", () => {
  it("reads every configuration as git does", () => {
    const lines = fc
      .tuple(fc.constantFrom(...PIECES.slice(0, 5)), fc.array(fc.constantFrom(...PIECES), { maxLength: 14 }))
      .map(([section, pieces]) => `${section}\n${pieces.join("")}`);
    fc.assert(
      fc.property(lines, (text) => {
        const byGit = readByGit(text);
        // Where git rejects the first line of a list, it prints nothing.
        assert.deepEqual(withPlainSpaces(parseGitConfig(text)).slice(0, byGit.length), withPlainSpaces(byGit));
        assert.ok(parseGitConfig(text).length >= byGit.length);
      }),
      { numRuns: 200 },
    );
  });

  it("reads what real files hold as git does, to the last setting", () => {
    for (const text of [
      "\ufeff[core]\n\thooksPath = .githooks ; shared\n",
      '[core] hooksPath = "a # b" # c\n[core]bare\nfsmonitor\n',
      '[core]\r\nhooksPath = a\\\r\nb\r\n[alias]\nx = "!sh -c \\"a b\\""\n',
      '[includeIf "onbranch:a/**"]\n path = ../dev/gitconfig\n[INCLUDE]\nPATH=x',
      '[a "B"]\nC = "x" y "z"   \n[d.E]\nf=',
    ]) {
      assert.deepEqual(withPlainSpaces(parseGitConfig(text)), withPlainSpaces(readByGit(text)), text);
    }
  });

  it("names hooks, includes whether or not their condition holds, and the files of commands", () => {
    const named = parseGitConfig(
      [
        "[core]\nhooksPath = .githooks ; shared\nfsmonitor = ./tools/watch --all\nbare = false\nsshCommand = ssh -i ~/key",
        '[include]\npath = dev/gitconfig\n[includeIf "onbranch:never"]\npath = ../other',
        '[filter "x"]\nclean = python3 scripts/clean.py %f\n[alias]\nst = status -sb\n[credential]\nhelper = gcloud.sh',
        '[remote "origin"]\nurl = ../source.git',
      ].join("\n"),
    ).map(namedBySetting);
    assert.deepEqual(
      named.filter((one) => one !== undefined),
      [
        { kind: "hooks", path: ".githooks" },
        { kind: "command", words: ["./tools/watch"] },
        { kind: "command", words: ["~/key"] },
        { kind: "include", path: "dev/gitconfig" },
        { kind: "include", path: "../other" },
        { kind: "command", words: ["scripts/clean.py"] },
        { kind: "command", words: [] },
        { kind: "command", words: [] },
      ],
    );
  });
});
