import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { REPOSITORY } from "../../scripts/checks/run-tool.ts";
import { runCommand } from "./run-command.ts";
import { createTemporaryTree } from "./temporary-tree.ts";

const COPIED = [
  "scripts/start.mjs",
  "scripts/pinned-node.mjs",
  "scripts/run-program.mjs",
  "packages/narthex/bin/narthex.js",
  "packages/narthex/bin/node-version.js",
  "packages/narthex/bin/pinned-node.js",
];
/** Says what it was given, each word on a line of its own. */
const COMMAND = `
  export async function runCli(words: readonly string[]): Promise<number> {
    for (const word of words) console.log("word:" + word);
    return 0;
  }`;

test("arguments after `npm start --` reach serve unchanged, after the first session that a start opens", async (context) => {
  const { scripts } = JSON.parse(readFileSync(join(REPOSITORY, "package.json"), "utf8")) as {
    scripts: { start: string };
  };
  const root = createTemporaryTree(context, {
    "package.json": JSON.stringify({
      name: "checkout",
      private: true,
      type: "module",
      scripts: { start: scripts.start },
    }),
    "packages/narthex/package.json": `{ "name": "narthex", "type": "module" }`,
    "packages/narthex/src/cli.ts": COMMAND,
    "scripts/setup.mjs": "export function setUp() {}",
    ...Object.fromEntries(COPIED.map((path) => [path, readFileSync(join(REPOSITORY, path), "utf8")])),
  });
  const given = ["--data", "a home", "--listen", "127.0.0.1:0", "--json", "$HOME; *"];
  const { code, output } = await runCommand("npm", ["start", "--silent", "--", ...given], { cwd: root });
  assert.equal(code, 0, output);
  const words = output.split("\n").filter((line) => line.startsWith("word:"));
  assert.deepEqual(
    words,
    ["serve", "--first-session", ...given].map((word) => `word:${word}`),
  );
});
