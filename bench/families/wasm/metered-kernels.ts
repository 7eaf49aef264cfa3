import { interleave } from "../../harness/interleave.ts";
import type { Measurement, Row } from "../../harness/measurement.ts";
import { ratioOf } from "../../harness/statistics.ts";
import { KERNELS, type KernelName, openKernel } from "./kernels.ts";

const MAX_MEAN_RATIO = 1.6;
const MAX_RATIO = 3.5;
/** The best of so many runs is a round's time: what else the machine does only makes them slower. */
const RUNS = 3;
/** Plain V8 inlines calls of a function by itself, which metered code has to count. */
const APART: KernelName = "recursion";

/** The same work by a module as it is and by the metered one, both compiled by V8 as it chooses. */
export const meteredKernels: Measurement = async ({ rounds, scale }) => {
  const times = new Map<KernelName, { plain: number[]; metered: number[] }>();
  for (const name of Object.keys(KERNELS) as KernelName[]) {
    const { plain, metered } = openKernel(name);
    const count = Math.max(1, Math.round(KERNELS[name] * scale));
    if (plain(count) !== metered(count)) throw new Error(`${name} gives something else when it is metered`);
    // V8 compiles what is hot anew while it runs: not before both are done with that are they compared.
    for (let run = 0; run < RUNS; run++) {
      plain(count);
      metered(count);
    }
    times.set(name, await interleave(rounds, { plain: bestOf(plain, count), metered: bestOf(metered, count) }));
  }
  const all = [...times];
  const rows = all.map(
    ([name, { plain, metered }]): Row => ({
      what: name === APART ? "nothing but calls: recursion" : `kernel: ${name}`,
      ours: { value: Math.min(...metered), unit: "ms" },
      beside: { value: Math.min(...plain), unit: "ms", name: "plain V8" },
      ratio: ratioOf(metered, plain),
      bar: { of: "ratio", limit: "at most", value: MAX_RATIO },
    }),
  );
  return {
    rows: [
      {
        ...mean("metered code, geometric mean of all kernels", all),
        bar: { of: "ratio", limit: "at most", value: MAX_MEAN_RATIO },
        picture: "metered WebAssembly, mean of kernels",
      },
      mean(
        "metered code, geometric mean without recursion",
        all.filter(([name]) => name !== APART),
      ),
      ...rows,
    ],
    raw: Object.fromEntries(
      all.flatMap(([name, { plain, metered }]) => [
        [`${name} metered, ms`, metered],
        [`${name} plain, ms`, plain],
      ]),
    ),
    notes: [
      "The kernels are C compiled by clang with -O2; their sources lie beside them in bench/families/wasm/kernels.",
    ],
  };
};

function bestOf(run: (count: number) => number, count: number): () => number {
  return () => {
    let bestMs = Number.POSITIVE_INFINITY;
    for (let again = 0; again < RUNS; again++) {
      const startedMs = performance.now();
      run(count);
      bestMs = Math.min(bestMs, performance.now() - startedMs);
    }
    return bestMs;
  };
}

type Times = readonly (readonly [
  KernelName,
  { readonly plain: readonly number[]; readonly metered: readonly number[] },
])[];

function mean(what: string, times: Times): Row {
  const ratios = times.map(([, { plain, metered }]) => ratioOf(metered, plain));
  return {
    what,
    ours: { value: geometricMean(times.map(([, { metered }]) => Math.min(...metered))), unit: "ms" },
    beside: { value: geometricMean(times.map(([, { plain }]) => Math.min(...plain))), unit: "ms", name: "plain V8" },
    ratio: geometricMean(ratios),
  };
}

function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}
