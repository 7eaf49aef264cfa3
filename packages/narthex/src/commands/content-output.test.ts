import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { blake3, utf8 } from "@narthex/contracts";
import { collect, saveContent } from "./content-output.ts";

async function* chunksOf(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield utf8(text);
}

describe("saveContent", () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "narthex-output-"));
  });
  after(() => rm(directory, { recursive: true }));

  it("keeps the old file when the bytes do not match their hash", async () => {
    const path = join(directory, "kept");
    await writeFile(path, "old");
    await assert.rejects(saveContent(chunksOf("forged"), path, blake3(utf8("real"))), { code: "CONTENT_DAMAGED" });
    assert.equal(await readFile(path, "utf8"), "old");
    assert.deepEqual(await readdir(directory), ["kept"]);
  });

  it("reports that a directory cannot be written to", async () => {
    await assert.rejects(saveContent(chunksOf("a"), join(directory, "no", "file"), undefined), {
      code: "INVALID_INPUT",
    });
  });

  it("writes a file that is private to the caller", async () => {
    const path = join(directory, "new");
    const saved = await saveContent(chunksOf("a", "b"), path, blake3(utf8("ab")));
    assert.deepEqual(saved, { path, bytes: 2 });
    assert.equal(await readFile(path, "utf8"), "ab");
    assert.equal((await stat(path)).mode & 0o777, 0o600);
  });
});

describe("collect", () => {
  it("stops at its limit", async () => {
    await assert.rejects(collect(chunksOf("abc", "def"), 5), { code: "RESOURCE_EXCEEDED" });
    assert.equal(Buffer.from(await collect(chunksOf("abc", "de"), 5)).toString(), "abcde");
  });
});
