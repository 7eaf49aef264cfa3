import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { checkRequirements, writeRequirementCounts } from "../../scripts/checks/requirements.ts";
import { createTemporaryTree } from "./temporary-tree.ts";

const PAGE = "docs/requirements/README.md";
const DOORS = "docs/requirements/doors.jsonl";
const DOOR_TEST = "packages/door/src/door.test.ts";

/** Titles in every way a test can be given one. */
const DOOR_TESTS = `
  import { describe, it, test } from "node:test";
  const KNOCKS = { "three knocks": 3, "four knocks": 4 };
  // test("commented out", () => {});
  const text = 'test("only quoted", () => {})';
  test("opens when asked", () => {});
  test('says "who is there"', async (context) => {
    await context.test("and waits", () => {});
  });
  describe("a closed door", () => {
    it(\`stays shut\`, () => {});
    for (const [name, count] of Object.entries(KNOCKS)) it(name, () => count);
  });
  describe("a door nobody tried", () => {});
  for (const count of [5, 6]) test(\`opens after \${count} knocks\`, () => {});
  regular.expression.test("no title");
`;

type Line = Readonly<Record<string, unknown>> | string;

function createTree(context: TestContext, lines: readonly Line[], more: Readonly<Record<string, string>> = {}): string {
  const text = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
  const root = createTemporaryTree(context, {
    [PAGE]: "# Doors\n\n<!-- counts -->\n<!-- /counts -->\n\nThe end.\n",
    [DOORS]: `${text}\n`,
    [DOOR_TEST]: DOOR_TESTS,
    ...more,
  });
  writeRequirementCounts(root);
  return root;
}

function findProblems(context: TestContext, lines: readonly Line[], more?: Readonly<Record<string, string>>): string[] {
  const { details } = checkRequirements(createTree(context, lines, more));
  return details === "" ? [] : details.split("\n");
}

function line(id: string, test: unknown, text = `says ${id}`): Line {
  return { id, text, test };
}

test("a test file that does not exist is found", (context) => {
  assert.deepEqual(
    findProblems(context, [line("DOOR-01", "pending"), line("DOOR-02", "packages/door/src/gone.test.ts: opens")]),
    [`${DOORS}:2: DOOR-02 names packages/door/src/gone.test.ts, which does not exist`],
  );
});

test("a title that no test of the file has is found, even if it is in a comment, a string or an empty suite", (context) => {
  const titles = ["opens", "commented out", "only quoted", "a door nobody tried", "no title"];
  const lines = titles.map((title, index) => line(`DOOR-0${index}`, `${DOOR_TEST}: ${title}`));
  assert.deepEqual(
    findProblems(context, lines),
    titles.map(
      (title, index) => `${DOORS}:${index + 1}: DOOR-0${index}: no test in ${DOOR_TEST} is called \`${title}\``,
    ),
  );
});

test("a title made at run time matches only values that occur in the file", (context) => {
  const titles = ["seven knocks", "opens after 7 knocks", "opens after  knocks"];
  const lines = titles.map((title, index) => line(`DOOR-0${index}`, `${DOOR_TEST}: ${title}`));
  assert.equal(findProblems(context, lines).length, titles.length);
});

test("tests of every kind are found by their titles", (context) => {
  const titles = [
    "opens when asked",
    'says "who is there"',
    "and waits",
    "a closed door",
    "stays shut",
    "three knocks",
    "opens after 5 knocks",
    "opens after ${count} knocks",
  ];
  const lines = titles.map((title, index) => line(`DOOR-0${index}`, `${DOOR_TEST}: ${title}`));
  const together = line(
    "DOOR-10",
    titles.map((title) => `${DOOR_TEST}: ${title}`),
  );
  assert.deepEqual(findProblems(context, [...lines, together]), []);
});

test("a suite from a contract file counts, another source file does not", (context) => {
  const suite = 'export function keepsContract() { it("opens", () => {}); }';
  const files = { "packages/door/src/door-contract.ts": suite, "packages/door/src/door.ts": suite };
  const lines = Object.keys(files).map((file, index) => line(`DOOR-0${index}`, `${file}: opens`));
  assert.deepEqual(findProblems(context, lines, files), [
    `${DOORS}:2: DOOR-01 names packages/door/src/door.ts, which is no test file`,
  ]);
});

test("an id used twice is found, across files and among aliases", (context) => {
  const walls = [
    line("DOOR-01", "pending", "another"),
    { id: "WALL-01", aliases: ["DOOR-02"], text: "a wall", test: "pending" },
  ];
  const more = { "docs/requirements/walls.jsonl": walls.map((wall) => JSON.stringify(wall)).join("\n") };
  assert.deepEqual(findProblems(context, [line("DOOR-01", "pending"), line("DOOR-02", "pending")], more), [
    `docs/requirements/walls.jsonl:1: the id DOOR-01 is used already: ${DOORS}:1`,
    `docs/requirements/walls.jsonl:2: the id DOOR-02 is used already: ${DOORS}:2`,
  ]);
});

test("the same words under two ids are found", (context) => {
  assert.deepEqual(findProblems(context, [line("DOOR-01", "pending", "same"), line("DOOR-02", "pending", "same")]), [
    `${DOORS}:2: DOOR-02 says the same as ${DOORS}:1`,
  ]);
});

test("a line with neither a test nor pending is found", (context) => {
  const bad: readonly unknown[] = [undefined, "", [], "later", [""], ["pending"], 1, "src/door.test.ts:opens", null];
  const lines = bad.map((value, index) => line(`DOOR-0${index}`, value));
  assert.deepEqual(
    findProblems(context, lines),
    bad.map((_, index) => `${DOORS}:${index + 1}: DOOR-0${index} has neither a test (\`file: title\`) nor \`pending\``),
  );
});

test("an invalid requirement line is found", (context) => {
  const bad: readonly Line[] = [
    "{",
    "[]",
    "",
    { id: "door", text: "a", test: "pending" },
    { id: "DOOR-01", test: "x" },
  ];
  const unknownKey = { id: "DOOR-02", text: "b", test: "pending", tests: [] };
  const problems = findProblems(context, [...bad, unknownKey, line("DOOR-03", "pending")]);
  assert.deepEqual(
    problems.map((problem) => problem.slice(0, `${DOORS}:1:`.length)),
    [1, 2, 3, 4, 5, 6].map((place) => `${DOORS}:${place}:`),
  );
});

test("a pending line whose id occurs in a test is found, in a title or a comment, and no longer id is mistaken for it", (context) => {
  const more = {
    "test/walls/wall.test.ts": '// DOOR-03\ntest("WALL-7: stands", () => {});\n// DOOR-011, XDOOR-01, DOOR-01-A',
    "test/walls/wall.ts": "// DOOR-01",
    "packages/door/node_modules/other/other.test.ts": "// DOOR-01",
  };
  const lines = [
    line("DOOR-01", "pending"),
    { id: "DOOR-02", aliases: ["WALL-7"], text: "a", test: "pending" },
    line("DOOR-03", "pending"),
  ];
  assert.deepEqual(findProblems(context, lines, more), [
    `${DOORS}:2: DOOR-02 is pending, but test/walls/wall.test.ts:2 carries WALL-7: name the test`,
    `${DOORS}:3: DOOR-03 is pending, but test/walls/wall.test.ts:1 carries DOOR-03: name the test`,
  ]);
});

/** A file of tests that imports these modules. */
function testsWith(...imports: readonly string[]): string {
  return `${imports.join("\n")}\n${DOOR_TESTS}`;
}

test("a hostile input that no test sends through a front door is found", (context) => {
  const inside = `${DOOR_TEST}: opens when asked`;
  const files = {
    "test/attacks/command.test.ts": testsWith('import { createTestHome } from "../cli/home.ts";'),
    "test/attacks/through.test.ts": testsWith('import { start } from "./support.ts";'),
    "test/attacks/support.ts":
      'import { createKernel } from "../doors/socket-kernel.ts"; export const start = createKernel;',
    "test/attacks/typed.test.ts": testsWith('import type { TestHome } from "../cli/home.ts";'),
    "test/attacks/other.test.ts": testsWith('import { textOf } from "../cli/home.ts";'),
    "test/attacks/alone.test.ts": DOOR_TESTS,
    "test/cli/home.ts": "",
    "test/doors/socket-kernel.ts": 'import { createKernel as open } from "narthex"; export const createKernel = open;',
  };
  const sentBy = (...names: readonly string[]) => names.map((name) => `test/attacks/${name}.test.ts: opens when asked`);
  const unsent = (place: number, id: string, why: string) =>
    `${DOORS}:${place}: ${id} is a hostile input, and no test sends it through a front door: ${why}`;
  const lines = [
    line("BAD-X-01", inside),
    line("BAD-X-02", [inside, ...sentBy("command")]),
    line("BAD-X-03", "pending"),
    line("DOOR-01", inside),
    line("BAD-D-08", inside),
    line("BAD-X-04", sentBy("through")),
    line("BAD-X-05", sentBy("alone", "typed")),
    line("BAD-X-06", sentBy("alone", "command")),
    line("BAD-X-07", sentBy("other")),
  ];
  assert.deepEqual(findProblems(context, lines, files), [
    unsent(1, "BAD-X-01", "all its tests are in packages"),
    unsent(
      7,
      "BAD-X-05",
      "test/attacks/alone.test.ts opens no front door; test/attacks/typed.test.ts opens no front door",
    ),
    unsent(9, "BAD-X-07", "test/attacks/other.test.ts opens no front door"),
  ]);
  const [sent = "", ...others] = findProblems(context, [line("BAD-D-08", sentBy("command"))], files);
  assert.match(sent, /:1: BAD-D-08 names a test that sends it, though the operating system chooses/);
  assert.deepEqual(others, []);
});

test("a test that can call a kernel in process does not send a hostile input", (context) => {
  const home = 'import { createTestHome } from "../cli/home.ts";';
  const ways: Readonly<Record<string, readonly [found: string, ...imports: string[]]>> = {
    library: ["library.test.ts imports createKernel from narthex", 'import { createKernel } from "narthex";'],
    source: [
      "source.test.ts imports openKernel from ../../packages/narthex/src/open.ts",
      'import { openKernel } from "../../packages/narthex/src/open.ts";',
    ],
    testkit: [
      "testkit.test.ts imports createTestKernel from @narthex/testkit",
      'import { createTestKernel } from "@narthex/testkit";',
    ],
    all: ["all.test.ts imports * from narthex", 'import * as narthex from "narthex";'],
    called: ["called.test.ts has callInProcess", "const answer = kernel.callInProcess({});"],
    late: ['late.test.ts has import("narthex")', 'const narthex = await import("narthex");'],
    helper: ["helper.ts imports createKernel from narthex", 'import { open } from "./helper.ts";'],
    program: [
      "helper.ts imports createKernel from narthex",
      'const PROGRAM = new URL("./helper.ts", import.meta.url);',
    ],
  };
  const files = Object.entries(ways).map(([name, [, ...imports]]) => [
    `test/attacks/${name}.test.ts`,
    testsWith(home, ...imports),
  ]);
  const names = Object.keys(ways);
  const lines = names.map((name, index) => line(`BAD-X-0${index}`, `test/attacks/${name}.test.ts: opens when asked`));
  const more = {
    ...Object.fromEntries(files),
    "test/cli/home.ts": "",
    "test/attacks/helper.ts": 'import { createKernel } from "narthex"; export const open = createKernel;',
  };
  assert.deepEqual(
    findProblems(context, lines, more).map((problem) => problem.replace(/^.*front door: test\/attacks\//, "")),
    Object.values(ways).map(([found]) => `${found}, which calls tools in process`),
  );
});

test("finds and rewrites counts that are stale or have no place", (context) => {
  const root = createTree(context, [line("DOOR-01", "pending"), line("DOOR-02", `${DOOR_TEST}: opens when asked`)]);
  const page = readFileSync(join(root, PAGE), "utf8");
  assert.match(page, /^# Doors\n\n<!-- counts -->\n[^]*\n<!-- \/counts -->\n\nThe end\.\n$/);
  assert.match(page, /^\| \[doors\]\(doors\.jsonl\) \| 1 \| 1 \| 2 \|$/m);
  assert.match(page, /^\| \*\*all\*\* \| \*\*1\*\* \| \*\*1\*\* \| \*\*2\*\* \|$/m);
  assert.equal(checkRequirements(root).note, "2 requirements, 1 pending");

  for (const [text, problem] of [
    [page.replace("| 1 | 1 | 2 |", "| 2 | 0 | 2 |"), `${PAGE}:6: the counts are stale`],
    ["# Doors\n", `${PAGE}:1: there is no place for the counts`],
  ] as const) {
    const stale = createTemporaryTree(context, {
      [PAGE]: text,
      [DOORS]: readFileSync(join(root, DOORS), "utf8"),
      [DOOR_TEST]: DOOR_TESTS,
    });
    assert.ok(checkRequirements(stale).details.startsWith(problem), checkRequirements(stale).details);
  }
});

test("a tree without requirements fails", (context) => {
  const root = createTemporaryTree(context, { [PAGE]: "<!-- counts -->\n<!-- /counts -->\n" });
  assert.deepEqual(checkRequirements(root).passed, false);
});
