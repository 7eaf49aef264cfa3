import assert from "node:assert/strict";
import { test } from "node:test";
import type { Command } from "./command.ts";
import { COMMAND_TREE } from "./command-tree.ts";
import { createParser } from "./create-parser.ts";
import { parseSimpleLine } from "./parse-simple-line.ts";

interface Parsed {
  readonly command: Command;
  readonly words: readonly string[];
  readonly values: Readonly<Record<string, unknown>>;
}

/** What the full parser makes of a line; undefined where it refuses it or shows help. */
async function parse(argv: readonly string[]): Promise<Parsed | undefined> {
  let parsed: Parsed | undefined;
  const parser = createParser({
    tree: COMMAND_TREE,
    description: "",
    version: "1.0.0",
    epilogue: () => "",
    writeHelp: () => undefined,
    async run(command, words, values) {
      parsed = { command, words: [...words], values };
    },
  });
  await parser.parseAsync([...argv], { from: "user" }).catch(() => undefined);
  return parsed;
}

const PLAIN_LINES = [
  ["call", "echo"],
  ["call", "echo", "{}"],
  ["call", "echo", ""],
  ["call", "echo", '{"a":1}', "--json"],
  ["call", "--session", "ses_a", "echo", "--json", "{}"],
  ["call", "echo", "{}", "--request-id", "r", "--dedupe-key", "", "--timeout", "10s", "--stream", "--out", "file"],
  ["call", "echo", "--data", "/somewhere"],
  ["serve", "--first-session"],
  ["ledger", "verify"],
  ["ledger", "list", "--limit", "3", "--json"],
  ["session", "open", "--workspace", "dir"],
  ["cas", "get", "hash", "--out", "file"],
];

for (const line of PLAIN_LINES) {
  test(`parses \`${line.join(" ")}\` as the full parser does`, async () => {
    const plain = await parseSimpleLine(line, COMMAND_TREE);
    assert.notEqual(plain, undefined);
    assert.deepEqual(plain, await parse(line));
  });
}

const OTHER_LINES = [
  [],
  ["--help"],
  ["--json", "call", "echo"],
  ["help", "call"],
  ["call"],
  ["call", "--help"],
  ["call", "echo", "{}", "more"],
  ["call", "echo", "-"],
  ["call", "echo", "--unknown"],
  ["call", "echo", "--session"],
  ["call", "echo", "--session", "--json"],
  ["call", "echo", "--session=ses_a"],
  ["call", "echo", "--session", "a", "--session", "b"],
  ["call", "echo", "--", "{}"],
  ["cal", "echo"],
  ["ledger"],
  ["ledger", "lst"],
  ["journal"],
  ["__proto__"],
  ["call", "echo", "--constructor"],
];

for (const line of OTHER_LINES) {
  test(`leaves \`${line.join(" ")}\` to the full parser`, async () => {
    assert.equal(await parseSimpleLine(line, COMMAND_TREE), undefined);
  });
}

test("no command line has another meaning without the full parser", async () => {
  const pieces = [
    "call",
    "echo",
    "{}",
    "--json",
    "--session",
    "ses_a",
    "--stream",
    "-",
    "--out",
    "--",
    "ledger",
    "list",
  ];
  let compared = 0;
  for (let number = 0; number < pieces.length ** 4; number += 7) {
    const line = [0, 1, 2, 3].map((place) => pieces[Math.floor(number / pieces.length ** place) % pieces.length] ?? "");
    const plain = await parseSimpleLine(line, COMMAND_TREE);
    if (plain === undefined) continue;
    assert.deepEqual(plain, await parse(line), line.join(" "));
    compared += 1;
  }
  assert.ok(compared > 50, `${compared} lines`);
});
