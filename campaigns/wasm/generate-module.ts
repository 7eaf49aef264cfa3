import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import type { Chance } from "../chance/chance.ts";

const FEATURES = ["sign-ext", "nontrapping-float-to-int", "multivalue", "bulk-memory", "mutable-globals"];
const FEWEST_BYTES = 60;
const MOST_BYTES = 6000;

/**
 * Makes a module from random bytes, with binaryen's `wasm-opt -ttf`, twice: as it comes, and so that no operation gives
 * a NaN, which may have other bits plain than metered.
 */
export async function generateModule(chance: Chance, base: string): Promise<void> {
  const seed = `${base}.bytes`;
  await writeFile(seed, chance.bytes(FEWEST_BYTES + chance.below(chance.pick([400, MOST_BYTES]))));
  const optimise = chance.oneIn(3) ? ["-O2"] : [];
  // The generator confuses types of references at times, so that V8 takes less than half of its modules with them.
  const withReferences = chance.oneIn(4);
  for (const [file, passes] of [
    [`${base}.raw.wasm`, optimise],
    [`${base}.exact.wasm`, ["--denan", ...optimise]],
  ] as const) {
    await generate(seed, file, passes, withReferences);
    if (withReferences && !WebAssembly.validate(new Uint8Array(await readFile(file))))
      await generate(seed, file, passes, false);
  }
}

async function generate(seed: string, file: string, passes: readonly string[], withReferences: boolean): Promise<void> {
  const features = withReferences ? [...FEATURES, "reference-types"] : FEATURES;
  const flags = ["--mvp-features", ...features.map((name) => `--enable-${name}`)];
  await promisify(execFile)("wasm-opt", [seed, "-ttf", ...flags, ...passes, "-o", file]);
}
