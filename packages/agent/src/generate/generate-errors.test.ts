import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { GeneratedTools } from "./generate-tools.ts";
import { createSourceTree, type SourceTree } from "./testing/generate-from.ts";
import type { WrongSource } from "./testing/wrong-source.ts";
import { WRONG_FORMS, WRONG_TAGS } from "./testing/wrong-sources.ts";
import { WRONG_TYPES } from "./testing/wrong-types.ts";

const WRONG: readonly WrongSource[] = [...WRONG_FORMS, ...WRONG_TAGS, ...WRONG_TYPES];
const fileOf = (wrong: WrongSource): string => `wrong-${WRONG.indexOf(wrong)}.ts`;

describe("a function that cannot be a tool is an error with file, line, column and reason", () => {
  let tree: SourceTree;
  let problems: readonly string[];
  before(() => {
    tree = createSourceTree(Object.fromEntries(WRONG.map((wrong) => [fileOf(wrong), wrong.source])));
    // All at once: one wrong file hides nothing of another.
    problems = tree.problems(WRONG.map(fileOf));
  });
  after(() => tree.remove());

  const check = (wrong: WrongSource): void => {
    const file = fileOf(wrong);
    assert.deepEqual(
      problems.filter((problem) => problem.startsWith(`${file}:`)),
      wrong.problems.map((problem) => `${file}:${problem}`),
    );
  };
  describe("in its form:", () => {
    for (const wrong of WRONG_FORMS) it(wrong.rule, () => check(wrong));
  });
  describe("in its tags:", () => {
    for (const wrong of WRONG_TAGS) it(wrong.rule, () => check(wrong));
  });
  describe("in its types:", () => {
    for (const wrong of WRONG_TYPES) it(wrong.rule, () => check(wrong));
  });
});

describe("unusable files", () => {
  const good = (name: string): string => `/** Does it. @tool */\nexport async function ${name}(): Promise<void> {}\n`;
  let tree: SourceTree;
  before(() => {
    tree = createSourceTree({
      "good.ts": good("f"),
      "again.ts": good("f"),
      "named.ts": good("other").replace("@tool", "@tool f"),
      "script.js": good("f"),
      "types.d.ts": good("f"),
      "a.ts": good("a"),
      "a#b.ts": good("g"),
      "c#/x.ts": good("x"),
      "loading.ts": `import fs from "node:fs";\nimport "lodash";\nimport type { Y } from "lodash";\nexport { z } from "zod";\nconst n = "./x.ts";\nasync function load() { await import("./good.ts"); await import(n); await import("node:os"); return fs; }\ntype X = import("./x.ts").X;\n${good("f")}`,
      "named-twice.ts": `const all = [1];\nexport { all as tools };\n${good("f")}`,
      "large.ts": " ".repeat(4 * 1024 * 1024 + 1),
      "several.ts": `${good("a")}${good("B")}/** @tool */ export function c<T>(...x: T[]) {}\n`,
      "moved.ts": `#!/usr/bin/env node\nimport "./good.ts";\nimport type { X } from "./x.ts";\nconst tools = 1;\n${good("f")}`,
    });
    mkdirSync(join(tree.directory, "folder.ts"));
  });
  after(() => tree.remove());

  it("are all reported at once, in the order of their names", () => {
    assert.deepEqual(tree.problems(["types.d.ts", "missing.ts", "script.js", "folder.ts", "large.ts", "good.ts"]), [
      "folder.ts:1:1: is not a file",
      "large.ts:1:1: has more than 4194304 bytes",
      "missing.ts:1:1: there is no such file",
      "script.js:1:1: is not a TypeScript module: its name has to end in .ts or .mts",
      "types.d.ts:1:1: is not a TypeScript module: its name has to end in .ts or .mts",
    ]);
  });

  it("two tools of one name are an error, in one file or in two", () => {
    const problem = "2:23: there is another tool `f`: two cannot have one name";
    assert.deepEqual(tree.problems(["good.ts", "again.ts", "named.ts"]), [`good.ts:${problem}`, `named.ts:${problem}`]);
  });

  it("a file name that cannot be imported is an error", () => {
    const message = "no module can import a file of this name";
    const printedAt = (output: string) => (tools: GeneratedTools) => tools.printModule(join(tree.directory, output));
    assert.deepEqual(tree.problems(["a#b.ts", "c#/x.ts"], printedAt("out.ts")), [
      `a#b.ts:1:1: ${message}`,
      `c#/x.ts:1:1: ${message}`,
    ]);
    assert.deepEqual(tree.problems(["c#/x.ts"], printedAt("c#/out.ts")), []);
  });

  it("names every problem of a function at once", () => {
    assert.deepEqual(tree.problems(["several.ts"]), [
      "several.ts:5:30: `c` has to be async",
      "several.ts:5:30: `c` cannot be generic",
      "several.ts:5:30: `c` has no description: say in its doc comment what it does",
      "several.ts:5:35: `x` cannot be a rest parameter: take an array",
    ]);
  });

  it("a type that cannot be written into another module is an error", () => {
    const output = join(tree.directory, "elsewhere/moved.tools.ts");
    assert.deepEqual(
      tree.problems(["moved.ts"], (tools) => tools.printStandaloneModule(output)),
      [
        "moved.ts:1:1: a line with `#!` can only be the first of a file",
        "moved.ts:1:1: `tools` is needed by the module: call it something else",
        "moved.ts:2:1: another file cannot be put into the module",
        "moved.ts:3:1: the module would not find this from where it is to be: write it beside the file",
      ],
    );
    assert.deepEqual(
      tree.problems(["loading.ts"], (tools) => tools.printStandaloneModule(output)),
      [
        "loading.ts:2:1: another file cannot be put into the module",
        "loading.ts:4:1: another file cannot be put into the module",
        "loading.ts:6:31: another file cannot be put into the module",
        "loading.ts:6:58: another file cannot be put into the module",
        "loading.ts:7:10: the module would not find this from where it is to be: write it beside the file",
      ],
    );
    assert.deepEqual(
      tree.problems(["named-twice.ts"], (tools) => tools.printStandaloneModule(output)),
      ["named-twice.ts:1:1: `tools` is needed by the module: call it something else"],
    );
    assert.deepEqual(
      tree.problems(["a.ts", "good.ts"], (tools) => tools.printStandaloneModule(output)),
      ["good.ts:1:1: only one file can be put into the module"],
    );
  });
});
