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
  it("is reported as missing, without an exception, if it is not installed", () => {
    const tree = createSourceTree({ "package.json": "{}" });
    assert.equal(loadCompiler([tree.directory], pathToFileURL(join(tree.directory, "own.js")).href), undefined);
    tree.remove();
  });

  it("is rejected if it is another module", () => {
    const tree = createSourceTree({ "node_modules/ts-morph/index.js": "module.exports = 1;" });
    const own = pathToFileURL(join(tree.directory, "own.js")).href;
    assert.throws(
      () => loadCompiler([], own),
      (fault) => isKernelError(fault) && fault.code === "CONFIG_INVALID" && fault.message.includes("is not ts-morph"),
    );
    tree.remove();
  });

  it("is loaded from the package's own location first, so that no workspace code runs", () => {
    const own = createSourceTree({ "node_modules/ts-morph/index.js": FAKE });
    const workspace = createSourceTree({ "node_modules/ts-morph/index.js": "throw new Error('ran');" });
    assert.equal(placeOf([workspace.directory], own), join(own.directory, "node_modules/ts-morph"));
    own.remove();
    workspace.remove();
  });

  it("is loaded from the first directory that has it if the package has none", () => {
    const own = createSourceTree({ "package.json": "{}" });
    const project = createSourceTree({ "node_modules/ts-morph/index.js": FAKE });
    const directories = [own.directory, project.directory];
    assert.equal(placeOf(directories, own), join(project.directory, "node_modules/ts-morph"));
    own.remove();
    project.remove();
  });
});
