import { KernelError } from "@narthex/contracts";
import { describeModule, MODULE_FILE } from "./describe-module.ts";
import { describeWasm, WASM_FILE } from "./describe-wasm.ts";
import { type FoundTools, readCandidate } from "./read-candidate.ts";

const MANIFEST_FILE = /\.(?:json|yaml|yml)$/;

/**
 * Returns the tools that can be added from a path: a manifest with its program, the tools of a JavaScript module, or a
 * WebAssembly module. Throws INVALID_DECLARATION.
 */
export async function findTools(path: string): Promise<FoundTools> {
  if (MANIFEST_FILE.test(path)) return await readCandidate(path);
  if (MODULE_FILE.test(path)) return await describeModule(path);
  if (WASM_FILE.test(path)) return await describeWasm(path);
  throw new KernelError(
    "INVALID_DECLARATION",
    `\`${path.slice(0, 300)}\` is neither a manifest (.json, .yaml) nor a module (.ts, .js, .wasm)`,
  );
}
