import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { isKernelError } from "@narthex/contracts";
import { loadCompiler } from "./compiler.ts";
import { createSourceTree } from "./testing/generate-from.ts";

const FAKE = "exports.Project = class {}; exports.ts = { from: __dirname };";

describe("ts-morph", () => {
  it("is missed without an exception where it is installed nowhere", () => {
    const tree = createSourceTree({ "package.json": "{}" });
    assert.equal(loadCompiler([tree.directory], pathToFileURL(join(tree.directory, "own.js")).href), undefined);
    tree.remove();
  });

  it("is refused if it is something else", () => {
    const tree = createSourceTree({ "node_modules/ts-morph/index.js": "module.exports = 1;" });
    assert.throws(
      () => loadCompiler([tree.directory]),
      (fault) => isKernelError(fault) && fault.code === "CONFIG_INVALID" && fault.message.includes("is not ts-morph"),
    );
    tree.remove();
  });

  it("is taken from the project first, and from the package's own place at last", () => {
    const project = createSourceTree({ "node_modules/ts-morph/index.js": FAKE });
    const other = createSourceTree({ "node_modules/ts-morph/index.js": FAKE });
    const own = pathToFileURL(join(other.directory, "own.js")).href;
    const placeOf = (directory: string): unknown => ({ ...loadCompiler([directory], own)?.ts })["from" as never];
    assert.equal(placeOf(project.directory), join(project.directory, "node_modules/ts-morph"));
    assert.equal(placeOf(join(project.directory, "elsewhere/../..")), join(other.directory, "node_modules/ts-morph"));
    project.remove();
    other.remove();
  });
});
