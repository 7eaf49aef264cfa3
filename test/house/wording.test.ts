import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { COMMAND_TREE } from "../../packages/narthex/src/commands/command-tree.ts";
import { checkWording } from "../../scripts/checks/wording.ts";
import { createTemporaryTree } from "./temporary-tree.ts";

const ROOT = new URL("../../", import.meta.url);

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

test("other words for what the glossary names are found in prose and in names", (context) => {
  const glossary =
    "# Glossary\n\n## Words that are not used\n\n| instead of | we say |\n|---|---|\n| odd log, zog | ledger |\n";
  const found = {
    "docs/a.md": "kept in the odd log",
    "docs/b.md": "Odd logs are kept",
    "src/c.ts": "const theOddLog = 1;",
    "src/d.ts": "oddLog.write();",
    "proto/e.proto": "ODD_LOG = 1;",
    "src/f.ts": "const zog = 1;",
  };
  const passed = {
    "docs/g.md": "odd things in a log; zogar",
    "src/h.ts": "const oddLogic = zoga;",
    "docs/glossary.md": glossary,
  };
  const { details } = checkWording(createTemporaryTree(context, { ...found, ...passed }));
  const lines = details.split("\n").toSorted();
  assert.deepEqual(
    lines.map((line) => line.replace(/:.*/, "")),
    Object.keys(found).toSorted(),
  );
  for (const line of lines) assert.match(line, /say `ledger`$/);
});

const [NOUNS = "", OTHERS = ""] = readFileSync(new URL("docs/glossary.md", ROOT), "utf8").split(
  "## Words that are not used",
);
const isNoun = (word: string): boolean => NOUNS.includes(`\n| ${word} |`);

test("the glossary's table of words that are not used names only nouns of its own", () => {
  const replacements = [...OTHERS.matchAll(/^\| [^|]+ \| ([^|]+) \|$/gm)].slice(1).map(([, noun = ""]) => noun);
  assert.ok(replacements.length >= 15);
  assert.deepEqual(
    replacements.filter((noun) => !isNoun(noun)),
    [],
  );
});

test("what the command line groups its commands by, and what the services tell of, are nouns of the glossary", () => {
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
