import { join } from "node:path";
import { WASM_PROGRAM } from "../../packages/host/src/wasm/wasm-program.ts";
import { bundleProgram } from "./bundle-program.ts";

const ENTRY = "packages/host/src/wasm/worker/wasm-worker.ts";

/**
 * Writes the program of wasm hosts, with the meter in it, into the folder in which the bundled code looks for it, as one
 * file: a sandbox sees that folder and nothing else of the package.
 */
export async function writeWasmProgram(directory: string): Promise<void> {
  await bundleProgram(ENTRY, join(directory, "wasm-host", WASM_PROGRAM));
}
