import { readFileSync } from "node:fs";
import { meterModule } from "@narthex/meter";

/** Kernels, compiled from the C beside them by `kernels/build.sh`, and how often each is run in a round. */
export const KERNELS = {
  sieve: 150,
  matrix: 40,
  sort: 30,
  hash: 50,
  interpreter: 120,
  json: 60_000,
  recursion: 900,
} as const;

export type KernelName = keyof typeof KERNELS;

export interface Kernel {
  /** Both answer the same number. */
  readonly plain: (rounds: number) => number;
  readonly metered: (rounds: number) => number;
}

const FUEL = 10n ** 15n;
const MAX_DEPTH = 10_000;

export function openKernel(name: KernelName): Kernel {
  const bytes = new Uint8Array(readFileSync(new URL(`./kernels/${name}.wasm`, import.meta.url)));
  const metered = meterModule(bytes, {
    memoryPages: 256,
    tableEntries: 1000,
    maxDepth: MAX_DEPTH,
    allowSimd: false,
    imports: new Set(),
  });
  if (!metered.ok) throw new Error(`${name} is rejected: ${metered.message}`);
  const plain = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports["run"];
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(metered.code));
  const { [metered.exports.fuel]: fuel, [metered.exports.depth]: depth, run } = exports;
  if (typeof plain !== "function" || typeof run !== "function") throw new Error(`${name} has nothing to run`);
  if (!(fuel instanceof WebAssembly.Global && depth instanceof WebAssembly.Global)) throw new Error("no meter");
  return {
    plain: (rounds) => Number(plain(rounds)),
    metered: (rounds) => {
      fuel.value = FUEL;
      depth.value = MAX_DEPTH;
      return Number(run(rounds));
    },
  };
}
