import { spawnSync } from "node:child_process";

/** Assembles WebAssembly text with wabt, without validation: some tests need invalid modules. */
export function assemble(text: string, flags: readonly string[] = []): Uint8Array {
  const run = spawnSync("wat2wasm", ["-", "--output=-", ...flags], { input: text });
  if (run.status !== 0) throw new Error(`wat2wasm: ${run.error?.message ?? run.stderr.toString()}`);
  return new Uint8Array(run.stdout);
}
