import { spawnSync } from "node:child_process";

/** Turns the text of a module into its bytes, with wabt, checked by nobody: tests want invalid ones too. */
export function assemble(text: string, flags: readonly string[] = []): Uint8Array {
  const run = spawnSync("wat2wasm", ["-", "--output=-", ...flags], { input: text });
  if (run.status !== 0) throw new Error(`wat2wasm: ${run.error?.message ?? run.stderr.toString()}`);
  return new Uint8Array(run.stdout);
}
