import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { createTemporaryTree } from "./temporary-tree.ts";

interface GlobalPrefix {
  choosePrefix(npmPrefix: string, home: string, mayWrite: (folder: string) => boolean): string;
  commandOnPath(path: string): string | undefined;
  pathProblem(prefix: string, path: string, home: string): string | undefined;
}

const script = new URL("../../scripts/global-prefix.mjs", import.meta.url);
const { choosePrefix, commandOnPath, pathProblem } = (await import(script.href)) as GlobalPrefix;

test("the command is installed below npm's prefix if both of its folders are writable, else below ~/.local", () => {
  assert.equal(
    choosePrefix("/usr", "/home/ann", () => true),
    "/usr",
  );
  assert.equal(
    choosePrefix("/usr", "/home/ann", () => false),
    "/home/ann/.local",
  );
  const onlyBin = (folder: string): boolean => folder === "/usr/bin";
  assert.equal(choosePrefix("/usr", "/home/ann", onlyBin), "/home/ann/.local");
});

test("a folder that is not on the PATH is named with the line that adds it", (context) => {
  const home = createTemporaryTree(context, { ".local/bin/narthex": "", "other/narthex": "" });
  const prefix = join(home, ".local");
  assert.equal(commandOnPath("/nowhere"), undefined);
  assert.equal(pathProblem(prefix, `/nowhere:${prefix}/bin`, home), undefined);
  const missing = pathProblem(prefix, "/nowhere", home) ?? "";
  assert.match(missing, /\/\.local\/bin is not on your PATH; .*:\n {2}export PATH="\$HOME\/\.local\/bin:\$PATH"$/);
  const shadowed = pathProblem(prefix, `${home}/other:${prefix}/bin`, home) ?? "";
  assert.match(shadowed, /^your shell runs \/.*\/other\/narthex as narthex, which is another one/);
});
