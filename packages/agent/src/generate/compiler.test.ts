import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { isKernelError } from "@narthex/contracts";
import { loadCompiler } from "./compiler.ts";
import { createSourceTree, type SourceTree } from "./testing/generate-from.ts";

const FAKE = "exports.Project = class {}; exports.ts = { from: __dirname };";

function placeOf(directories: readonly string[], own: SourceTree): unknown {
  const compiler = loadCompiler(directories, pathToFileURL(join(own.directory, "own.js")).href);
  return { ...compiler?.ts }["from" as never];
}

describe("ts-morph", () => {
  it("is missed without an exception where it is installed nowhere", () => {
    const tree = createSourceTree({ "package.json": "{}" });
    assert.equal(loadCompiler([tree.directory], pathToFileURL(join(tree.directory, "own.js")).href), undefined);
    tree.remove();
  });

  it("is refused if it is something else", () => {
    const tree = createSourceTree({ "node_modules/ts-morph/index.js": "module.exports = 1;" });
    const own = pathToFileURL(join(tree.directory, "own.js")).href;
    assert.throws(
      () => loadCompiler([], own),
      (fault) => isKernelError(fault) && fault.code === "CONFIG_INVALID" && fault.message.includes("is not ts-morph"),
    );
    tree.remove();
  });

  it("is taken from the package's own place if it is there, so that nothing of a workspace is run", () => {
    const own = createSourceTree({ "node_modules/ts-morph/index.js": FAKE });
    const workspace = createSourceTree({ "node_modules/ts-morph/index.js": "throw new Error('ran');" });
    assert.equal(placeOf([workspace.directory], own), join(own.directory, "node_modules/ts-morph"));
    own.remove();
    workspace.remove();
  });

  it("is taken from the first directory that has it where the package has none of its own", () => {
    const own = createSourceTree({ "package.json": "{}" });
    const project = createSourceTree({ "node_modules/ts-morph/index.js": FAKE });
    const directories = [own.directory, project.directory];
    assert.equal(placeOf(directories, own), join(project.directory, "node_modules/ts-morph"));
    own.remove();
    project.remove();
  });
});
