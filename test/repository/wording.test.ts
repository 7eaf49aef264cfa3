import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { COMMAND_TREE } from "../../packages/narthex/src/commands/command-tree.ts";
import { checkWording } from "../../scripts/checks/wording.ts";
import { createTemporaryTree } from "./temporary-tree.ts";

const ROOT = new URL("../..", import.meta.url);

/** Put together here so that this file passes the check it is about. */
const planted = (...parts: string[]): string => parts.join("");

const BAD: Readonly<Record<string, string>> = {
  "src/later.ts": planted("// TO", "DO: later"),
  "docs/later.md": planted("FIX", "ME"),
  "src/a.test.ts": planted("test.on", 'ly("a", () => {});'),
  "src/b.test.ts": planted("describe.sk", 'ip("a", () => {});'),
  "src/c.test.ts": planted('test("a", { sk', "ip: true }, () => {});"),
  "src/utils.ts": "",
  "src/string-helpers.ts": "",
  "src/common/thing.ts": "",
  "src/session-manager.ts": "",
  "docs/download.md": planted("from registry.", "npmjs.org"),
};

test("every forbidden word and name is found", (context) => {
  const { details } = checkWording(createTemporaryTree(context, BAD));
  const found = details.split("\n").map((line) => line.replace(/:.*/, ""));
  assert.deepEqual(found.toSorted(), Object.keys(BAD).toSorted());
});

test("ordinary words, generated code and other people's packages pass", (context) => {
  const root = createTemporaryTree(context, {
    "src/reader.ts": "reader.skip(wireType); // commonly",
    "src/community.ts": "export const only = true;",
    "src/gen/a.ts": planted("// TO", "DO"),
    "node_modules/a/utils.js": planted("// FIX", "ME"),
  });
  assert.equal(checkWording(root).details, "");
});

const GLOSSARY =
  "# Glossary\n\n## Words that are not used\n\n| instead of | we say |\n|---|---|\n| odd word, zog | plain term |\n";

test("words that the glossary replaces are rejected in added lines, in prose and in names", (context) => {
  const before = { "docs/glossary.md": GLOSSARY, "docs/old.md": "an odd word that was there\n" };
  const root = createTemporaryTree(context, before);
  const base = commitAll(root);
  const rejected = {
    "docs/a.md": "kept by an odd word",
    "docs/b.md": "first\nOdd word",
    "src/c.ts": "const theOddWord = 1;",
    "src/d.ts": "oddWord.write();",
    "proto/e.proto": "ODD_WORD = 1;",
    "src/f.ts": "const zog = 1;",
  };
  const allowed = {
    "docs/g.md": "odd things in a word; zogar",
    "src/h.ts": 'const oddWordy = zoga + "zog";',
    "docs/old.md": "an odd word that was there\nand a line without one\n",
    "src/gen/i.ts": "const zog = 1;",
  };
  for (const [path, text] of Object.entries({ ...rejected, ...allowed })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  commitAll(root);
  const { details } = checkWording(root, base);
  const lines = details.split("\n").toSorted();
  assert.deepEqual(
    lines.map((line) => line.replace(/: .*/, "")),
    ["docs/a.md:1", "docs/b.md:2", "proto/e.proto:1", "src/c.ts:1", "src/d.ts:1", "src/f.ts:1"],
  );
  for (const line of lines) assert.match(line, /say plain term$/);
});

test("checks a tree without history as far as possible, and the note says so", (context) => {
  const root = createTemporaryTree(context, { "docs/glossary.md": GLOSSARY, "docs/a.md": "zog" });
  const { passed, note } = checkWording(root);
  assert.ok(passed);
  assert.match(note, /no history/);
});

test("accepts the industry's terms", () => {
  const [, table = ""] = readFileSync(new URL("docs/glossary.md", ROOT), "utf8").split("## Words that are not used");
  const replaced = [...table.matchAll(/^\| ([^|]+) \|/gm)].slice(1).map(([, words = ""]) => words);
  assert.ok(replaced.length >= 6);
  for (const term of ["audit log", "hash chain", "denial code", "capability token", "merkle root"]) {
    assert.ok(!replaced.some((words) => words.includes(term)), term);
  }
});

/** Answers the commit. */
function commitAll(root: string): string {
  const git = (...words: string[]): string =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...words], {
      cwd: root,
      encoding: "utf8",
    });
  git("init", "--quiet");
  git("add", "--all");
  git("commit", "--quiet", "--message", "a");
  return git("rev-parse", "HEAD").trim();
}

const [NOUNS = ""] = readFileSync(new URL("docs/glossary.md", ROOT), "utf8").split("## Words that are not used");
const isNoun = (word: string): boolean => NOUNS.includes(`\n| ${word} |`);

test("the command line's groups and the services' nouns are in the glossary", () => {
  const groups = COMMAND_TREE.filter((entry) => "commands" in entry).map(({ name }) => name);
  const told = ["admin", "kernel"].flatMap((file) =>
    [...readFileSync(new URL(`proto/narthex/v1/${file}.proto`, ROOT), "utf8").matchAll(/^message (\w+)Info /gm)].map(
      ([, noun = ""]) => noun.toLowerCase(),
    ),
  );
  assert.ok(groups.length > 5 && told.length > 5);
  const unknown = [...groups, ...told].filter(
    (word) => !isNoun(word) && !isNoun(word.replace(/s$/, "")) && !NOUNS.includes(`\`narthex ${word}\``),
  );
  assert.deepEqual(unknown, []);
});
