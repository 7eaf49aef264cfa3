// Must run on any Node since 16.
import { delimiter, join } from "node:path";
import { becomeProgram, explainMissingNode, findPinnedNode } from "../packages/narthex/bin/pinned-node.js";
import { ROOT } from "./run-program.mjs";

/** Replaces this process by a script on the repository's own Node, with the installed commands first on PATH. */
export function becomeScript(script, scriptArguments) {
  const node = findPinnedNode(import.meta.url);
  if (!node) {
    console.error(explainMissingNode());
    process.exitCode = 1;
    return;
  }
  const path = [join(ROOT, "node_modules", ".bin"), process.env.PATH].join(delimiter);
  becomeProgram(node, [join(ROOT, script), ...scriptArguments], { cwd: ROOT, env: { ...process.env, PATH: path } });
}
