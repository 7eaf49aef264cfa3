import { readFileSync } from "node:fs";
import { meterModule, type MeterOptions } from "@narthex/meter";
import { readModule } from "../../../packages/meter/src/read-module.ts";
import { writeModule } from "../../../packages/meter/src/write-module.ts";
import { interleave } from "../../frame/interleave.ts";
import type { Measurement } from "../../frame/measurement.ts";

const MIN_RATE = 50;
const WARM_UP_RUNS = 4;
const RUNS = 3;
const BYTES_PER_MB = 1024 * 1024;
/** Names of modules that are imported have no dot where imports are granted, and these are as long. */
const [FROM, TO] = ["./cedar_wasm_bg.js", "__cedar_wasm_bg_js"];

/** How fast a large module is rewritten: Cedar's policy engine, 4 MB that rustc compiled. */
export const instrumenting: Measurement = async ({ rounds }) => {
  const module = readLargeModule();
  const imports = WebAssembly.Module.imports(new WebAssembly.Module(module));
  const options: MeterOptions = {
    memoryPages: 65_536,
    tableEntries: 100_000,
    maxDepth: 10_000,
    allowSimd: true,
    imports: new Set(imports.map(({ module: from, name }) => `${from}.${name}`)),
  };
  const rewrite = () => writeModule(readModule(module, options), options).code;
  const whole = () => meterModule(module, options);
  const answer = whole();
  if (!answer.ok) throw new Error(`rejected: ${answer.message}`);
  for (let run = 0; run < WARM_UP_RUNS; run++) rewrite();
  const rates = await interleave(rounds, {
    rewrite: bestRate(rewrite, module.length),
    whole: bestRate(whole, module.length),
  });
  return {
    rows: [
      {
        what: "module instrumented, warm",
        ours: { value: Math.max(...rates.rewrite), unit: "MB/s" },
        bar: { of: "ours", limit: "at least", value: MIN_RATE },
      },
      {
        what: "the same, with V8's validation before and after",
        ours: { value: Math.max(...rates.whole), unit: "MB/s" },
      },
    ],
    raw: { "rewriting, MB/s": rates.rewrite, "with validation, MB/s": rates.whole },
    notes: [`The module has ${module.length} bytes, metered ${answer.code.length}.`],
  };
};

function readLargeModule(): Uint8Array {
  const file = new URL("cedar_wasm_bg.wasm", import.meta.resolve("@cedar-policy/cedar-wasm/nodejs"));
  const text = readFileSync(file).toString("latin1");
  return new Uint8Array(Buffer.from(text.replaceAll(FROM, TO), "latin1"));
}

function bestRate(run: () => unknown, bytes: number): () => number {
  return () => {
    let bestMs = Number.POSITIVE_INFINITY;
    for (let again = 0; again < RUNS; again++) {
      const startedMs = performance.now();
      run();
      bestMs = Math.min(bestMs, performance.now() - startedMs);
    }
    return (bytes * 1000) / BYTES_PER_MB / bestMs;
  };
}
