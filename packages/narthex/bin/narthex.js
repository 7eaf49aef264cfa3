#!/usr/bin/env node
// The `narthex` command. Read by any Node since 16, so that an old one can step aside or say what is wrong.
import { isNodeNewEnough } from "./node-version.js";

if (isNodeNewEnough()) {
  // Asked for instead of imported: an import of these makes Node load what stands behind all that they export.
  const { enableCompileCache } = process.getBuiltinModule("node:module");
  // SECURITY: the cache is executed, so it lies with the code: who may write the one may write the other.
  enableCompileCache(filePath("../node_modules/.cache"));
  const words = process.argv.slice(2);
  // A client waits for each answer of its hook: what can answer one is loaded by itself.
  const answered =
    words[0] === "hook" ? await (await import(programUrl("quick-hook").href)).runQuickHook(words) : undefined;
  process.exitCode = answered ?? (await (await import(programUrl("cli").href)).runCli(words));
} else {
  // Only an old Node pays for loading these.
  const { fileURLToPath } = await import("node:url");
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
function programUrl(name) {
  const isInstalled = import.meta.url.includes("/node_modules/");
  const hasSources = !isInstalled && process.getBuiltinModule("node:fs").existsSync(filePath("../src/cli.ts"));
  return new URL(hasSources ? `../src/${name}.ts` : `../dist/${name}.js`, import.meta.url);
}

function filePath(path) {
  return process.getBuiltinModule("node:url").fileURLToPath(new URL(path, import.meta.url));
}
