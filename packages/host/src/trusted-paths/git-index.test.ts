import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { promisify } from "node:util";
import { readGitlinks } from "./git-index.ts";

const run = promisify(execFile);

describe("the gitlinks of an index", () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "narthex-index-"));
  });
  afterEach(() => rm(root, { recursive: true }));

  /** An index that git wrote: files and gitlinks, some with long names. */
  async function index(version: number, format: "sha1" | "sha256"): Promise<Buffer> {
    await run("git", ["init", "-q", `--object-format=${format}`, root]);
    const hash = "1".repeat(format === "sha1" ? 40 : 64);
    const long = `${"n".repeat(200)}/`.repeat(21);
    const entries = [
      "100644 a/file",
      "160000 a/link",
      "100755 a/link2",
      "160000 b\u00e9",
      `160000 ${long}x`,
      "160000 z",
    ];
    const lines = entries.map((entry) => entry.replace(" ", ` ${hash} 0\t`)).join("\n");
    const git = run("git", ["-C", root, "-c", `index.version=${version}`, "update-index", "--index-info"]);
    git.child.stdin?.end(`${lines}\n`);
    await git;
    return await readFile(join(root, ".git/index"));
  }

  async function* parts(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }

  for (const version of [2, 4]) {
    for (const format of ["sha1", "sha256"] as const) {
      it(`are found in version ${version} with ${format}, whatever parts it is read in`, async () => {
        const bytes = await index(version, format);
        for (const size of [1, 7, 100, bytes.length]) {
          const found = await readGitlinks(parts(bytes, size));
          const shown = found.map((name) => (name.length > 4000 ? "long" : name));
          assert.deepEqual(shown, ["a/link", "b\u00e9", "long", "z"]);
        }
      });
    }
  }

  it("are not found in a file that is truncated, empty or not an index", async () => {
    const bytes = await index(2, "sha1");
    assert.deepEqual(await readGitlinks(parts(bytes.subarray(0, 100), 10)), []);
    for (const text of ["", "DIRC", "something else that is longer"]) {
      assert.deepEqual(await readGitlinks(parts(Buffer.from(text), 10)), []);
    }
  });
});
