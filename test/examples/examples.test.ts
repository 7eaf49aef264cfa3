import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..", "..");
const SNIPPET = /<!-- example: (?<path>\S+) -->\n```ts\n(?<code>[\s\S]*?)```\n<!-- \/example -->/g;

test("every example runs, asserts and exits with 0", async () => {
  const folders = await readdir(join(root, "examples"));
  const stories = folders.map((name) => join(root, "examples", name, `${name}.ts`)).filter((path) => existsSync(path));
  assert.ok(stories.length > 1);
  for (const story of stories) await run(process.execPath, [story]);
});

test("the README's code is an example, word for word, of at most 25 lines", async () => {
  const readme = await readFile(join(root, "README.md"), "utf8");
  const snippets = [...readme.matchAll(SNIPPET)];
  assert.equal(snippets.length, 1);
  for (const { groups } of snippets) {
    assert.equal(groups?.["code"], await readFile(join(root, groups?.["path"] ?? ""), "utf8"));
    assert.ok((groups?.["code"] ?? "").trimEnd().split("\n").length <= 26);
  }
});
