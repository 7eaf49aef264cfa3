import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { REPOSITORY } from "../checks/run-tool.ts";
import { WASM_PROGRAM } from "../../packages/host/src/wasm/wasm-program.ts";

const ENTRY = "packages/host/src/wasm/worker/wasm-worker.ts";

/**
 * Writes the program of wasm hosts, with the meter in it, into the folder in which the bundled code looks for it, as one
 * file: a sandbox sees that folder and nothing else of the package.
 */
export async function writeWasmProgram(directory: string): Promise<void> {
  const to = join(directory, "wasm-host");
  await mkdir(to);
  const bundle = await rolldown({
    cwd: REPOSITORY,
    input: ENTRY,
    platform: "node",
    onLog(level, log) {
      throw new Error(`${level}: ${log.message}`);
    },
  });
  const file = join(to, WASM_PROGRAM);
  const { output } = await bundle.write({
    file,
    format: "esm",
    codeSplitting: false,
    minify: { compress: true, mangle: false, codegen: true },
  });
  await bundle.close();
  const [program, ...others] = output;
  const missing = program.imports.filter((name) => !name.startsWith("node:"));
  if (others.length > 0 || missing.length > 0) throw new Error("the program of wasm hosts is not one file");
  await chmod(file, 0o644);
}
