import assert from "node:assert/strict";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { findPageProgram, PAGE_PROGRAM } from "./page-program.ts";

describe("the program of a page worker", () => {
  it("is JavaScript that needs nothing but Node and its own folder, and that others can read", async () => {
    const folder = await findPageProgram();
    const names = await readdir(folder);
    assert.ok(names.includes(PAGE_PROGRAM));
    for (const name of names) {
      const text = await readFile(join(folder, name), "utf8");
      for (const [, wanted = ""] of text.matchAll(/^(?:import|\}) .*from "([^"]+)";$/gm)) {
        assert.ok(wanted.startsWith("node:") || names.includes(wanted.replace("./", "")), `${name} imports ${wanted}`);
      }
      assert.equal((await stat(join(folder, name))).mode & 0o777, 0o644);
    }
  });

  it("is made once", async () => {
    assert.equal(await findPageProgram(), await findPageProgram());
  });
});
