import { join } from "node:path";
import { WASM_PROGRAM } from "../../packages/host/src/wasm/wasm-program.ts";
import { bundleProgram } from "./bundle-program.ts";

const ENTRY = "packages/host/src/wasm/worker/wasm-worker.ts";

/**
 * Writes the program of wasm hosts, including the meter, as one file into the folder in which the bundled code looks
 * for it: a sandbox sees only that folder of the package.
 */
export async function writeWasmProgram(directory: string): Promise<void> {
  await bundleProgram(ENTRY, join(directory, "wasm-host", WASM_PROGRAM));
}
