#!/usr/bin/env node
// The `narthex` command. Read by any Node since 16, so that an old one can step aside or say what is wrong.
import { existsSync } from "node:fs";
import module from "node:module";
import { fileURLToPath } from "node:url";
import { isNodeNewEnough } from "./node-version.js";

if (isNodeNewEnough()) {
  // SECURITY: the cache is executed, so it lies with the code: who may write the one may write the other.
  module.enableCompileCache(fileURLToPath(new URL("../node_modules/.cache", import.meta.url)));
  const { runCli } = await import(commandUrl().href);
  process.exitCode = await runCli(process.argv.slice(2));
} else {
  // Only an old Node pays for loading this.
  const { becomeProgram, explainMissingNode, findPinnedNode } = await import("./pinned-node.js");
  const node = findPinnedNode(import.meta.url);
  if (node) {
    becomeProgram(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)]);
  } else {
    console.error(explainMissingNode());
    process.exitCode = 5;
  }
}

/** Sources in a checkout; what was built from them in an installed package, where Node strips no types. */
function commandUrl() {
  const source = new URL("../src/cli.ts", import.meta.url);
  const isInstalled = source.pathname.includes("/node_modules/");
  return !isInstalled && existsSync(source) ? source : new URL("../dist/cli.js", import.meta.url);
}
