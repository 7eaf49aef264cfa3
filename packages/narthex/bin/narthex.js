#!/usr/bin/env node
// Entry point of the `narthex` command. Must load on any Node since 16, so that an old Node can start a newer one or
// report the problem.
import { isNodeNewEnough } from "./node-version.js";

if (isNodeNewEnough()) {
  // Uses `process.getBuiltinModule` instead of `import`: importing these modules makes Node load everything that their
  // exports depend on.
  const { enableCompileCache } = process.getBuiltinModule("node:module");
  // SECURITY: Node executes the cached code, so the cache lies beside the code: write access to one implies write
  // access to the other.
  enableCompileCache(filePath("../node_modules/.cache"));
  const words = process.argv.slice(2);
  // The client waits for every hook response, so the fast path is loaded without the rest of the command.
  const answered =
    words[0] === "hook" ? await (await import(programUrl("quick-hook").href)).runQuickHook(words) : undefined;
  process.exitCode = answered ?? (await (await import(programUrl("cli").href)).runCli(words));
} else {
  // Loaded only on an old Node, so that a current one does not pay for it.
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

/**
 * Resolves to the sources in a checkout, and to the compiled files in an installed package, where Node does not strip
 * types.
 */
function programUrl(name) {
  const isInstalled = import.meta.url.includes("/node_modules/");
  const hasSources = !isInstalled && process.getBuiltinModule("node:fs").existsSync(filePath("../src/cli.ts"));
  return new URL(hasSources ? `../src/${name}.ts` : `../dist/${name}.js`, import.meta.url);
}

function filePath(path) {
  return process.getBuiltinModule("node:url").fileURLToPath(new URL(path, import.meta.url));
}
