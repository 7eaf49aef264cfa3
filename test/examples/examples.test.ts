import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { kernelProgram } from "../built/kernel-program.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..", "..");
const SNIPPET = /<!-- example: (?<path>\S+) -->\n```ts\n(?<code>[\s\S]*?)```\n<!-- \/example -->/g;

test("every example runs, asserts and exits with 0", async () => {
  const folders = await readdir(join(root, "examples"));
  // A folder without a file of its name holds what several examples use.
  const stories = folders.map((name) => join(root, "examples", name, `${name}.ts`)).filter((path) => existsSync(path));
  assert.ok(stories.length > 1);
  // They make homes of their own.
  const env = { ...process.env, NARTHEX_DATA: undefined };
  for (const story of stories) await run(process.execPath, kernelProgram(pathToFileURL(story)), { env });
});

test("the code of the README and of the guides is an example, word for word", async () => {
  const guides = (await readdir(join(root, "docs/guides"))).map((name) => join("docs/guides", name));
  const counts: [string, number][] = [];
  for (const page of ["README.md", ...guides]) {
    const text = await readFile(join(root, page), "utf8");
    const snippets = [...text.matchAll(SNIPPET)];
    assert.equal(snippets.length, text.split("<!-- example:").length - 1, page);
    for (const { groups } of snippets) {
      assert.equal(groups?.["code"], await readFile(join(root, groups?.["path"] ?? ""), "utf8"), page);
    }
    if (snippets.length > 0) counts.push([page, snippets.length]);
  }
  assert.deepEqual(counts, [
    ["README.md", 1],
    ["docs/guides/ai-sdk.md", 1],
  ]);
});

test("the README's example has at most 25 lines", async () => {
  const readme = await readFile(join(root, "README.md"), "utf8");
  const [snippet] = readme.matchAll(SNIPPET);
  assert.ok((snippet?.groups?.["code"] ?? assert.fail("there is none")).trimEnd().split("\n").length <= 26);
});
