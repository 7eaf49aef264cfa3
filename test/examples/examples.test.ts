import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { isJsonObject, type JsonObject, parseJson } from "@narthex/contracts";
import { COMMAND, objectsOf } from "../cli/home.ts";
import { kernelProgram } from "../built/kernel-program.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..", "..");
const SNIPPET = /<!-- example: (?<path>\S+) -->\n```ts\n(?<code>[\s\S]*?)```\n<!-- \/example -->/g;

let directory = "";
before(async () => {
  directory = await mkdtemp(join(tmpdir(), "narthex-examples-"));
});
after(() => rm(directory, { recursive: true, force: true }));
const bundle = (): string => join(directory, "coding-session.bundle");

test("every example runs, asserts and exits with 0", async () => {
  const folders = await readdir(join(root, "examples"));
  // A folder without a file of its name holds what several examples use.
  const stories = folders.map((name) => join(root, "examples", name, `${name}.ts`)).filter((path) => existsSync(path));
  assert.ok(stories.length > 1);
  // They make homes of their own.
  const env = { ...process.env, NARTHEX_DATA: undefined };
  for (const story of stories) {
    const rest = story.includes("coding-session") ? [bundle()] : [];
    await run(process.execPath, [...kernelProgram(pathToFileURL(story)), ...rest], { env });
  }
});

test("an example runs by its name on the pinned Node, whatever Node npm has, and prints what it did", async () => {
  const script = join(root, "scripts/example.mjs");
  const { stdout } = await run(process.execPath, [script, "first-call"]);
  assert.equal(stdout, "shout ended with success, the wrong input with error; the ledger has both\n");
  await assert.rejects(run(process.execPath, [script, "nope"]), { code: 2, stderr: /^examples: .*first-call/m });
});

test("a whole coding session is verified and replayed from its bundle without a home", async () => {
  const env = { ...process.env, HOME: directory, NARTHEX_DATA: join(directory, "nowhere") };
  const ask = async (...words: string[]): Promise<JsonObject> => {
    const { stdout } = await run(process.execPath, [COMMAND, ...words, "--json"], { env, cwd: directory });
    const answer = parseJson(stdout);
    return isJsonObject(answer) ? answer : assert.fail(stdout);
  };
  const verified = await ask("ledger", "verify", bundle());
  assert.deepEqual([verified["intact"], verified["complete"]], [true, true]);
  const [report] = objectsOf((await ask("replay", bundle()))["sessions"]);
  assert.ok(report !== undefined);
  // Two edits are run again; git, the shell and the search are taken from the record; the push was refused.
  assert.deepEqual([report["clean"], report["ran"], report["refused"]], [true, 2, 1]);
  assert.ok(Number(report["served"]) >= 5 && Number(report["decisions"]) >= 8);
  assert.ok(!existsSync(join(directory, "nowhere")));
});

test("the code of the README and of the guides equals an example, word for word", async () => {
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
    ...["ai-sdk", "delegation", "ledger", "schemas", "streaming", "testing"].map((name) => [
      `docs/guides/${name}.md`,
      1,
    ]),
  ]);
});

test("the README's example has at most 25 lines", async () => {
  const readme = await readFile(join(root, "README.md"), "utf8");
  const [snippet] = readme.matchAll(SNIPPET);
  assert.ok((snippet?.groups?.["code"] ?? assert.fail("there is none")).trimEnd().split("\n").length <= 26);
});
