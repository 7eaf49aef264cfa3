import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { meterModule, type MeterOptions } from "@narthex/meter";
import { findWasmProgram } from "../../../packages/host/src/wasm/wasm-program.ts";
import { interleave } from "../../harness/interleave.ts";
import type { Measurement } from "../../harness/measurement.ts";

const MIN_RATE = 50;
const WARM_UP_RUNS = 4;
const RUNS = 3;
const BYTES_PER_MB = 1024 * 1024;
/** Names of modules that are imported have no dot where imports are granted, and these are as long. */
const [FROM, TO] = ["./cedar_wasm_bg.js", "__cedar_wasm_bg_js"];

/** How fast a large module is rewritten, in a thread as hosts have them: Cedar's policy engine, 4 MB that rustc compiled. */
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
  const answer = meterModule(module, options);
  if (!answer.ok) throw new Error(`rejected: ${answer.message}`);
  const thread = await startThread(module, options);
  const bestRate = (what: "rewrite" | "whole") => async (): Promise<number> => {
    const reply = once(thread, "message");
    thread.postMessage(what);
    const [bestMs] = (await reply) as [number];
    return (module.length * 1000) / BYTES_PER_MB / bestMs;
  };
  const rates = await interleave(rounds, { rewrite: bestRate("rewrite"), whole: bestRate("whole") });
  await thread.terminate();
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

/**
 * Like a host's, the thread runs JavaScript without types. Like that of one which has run a module, memory has grown in it:
 * from then on V8 looks at every access of bytes whether they are still there.
 */
async function startThread(module: Uint8Array, options: MeterOptions): Promise<Worker> {
  const meter = pathToFileURL(join(await findWasmProgram(), "meter", "/")).href;
  const source = `
    import { parentPort, workerData } from "node:worker_threads";
    const { module, options } = workerData;
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 2 });
    if (new Uint8Array(memory.buffer).length !== 65536 || memory.grow(1) !== 1) throw new Error("memory does not grow");
    const { meterModule } = await import("${meter}meter-module.mjs");
    const { readModule } = await import("${meter}read-module.mjs");
    const { writeModule } = await import("${meter}write-module.mjs");
    const work = {
      rewrite: () => writeModule(readModule(module, options), options).code,
      whole: () => meterModule(module, options),
    };
    for (let run = 0; run < ${WARM_UP_RUNS}; run++) for (const name in work) work[name]();
    parentPort.on("message", (name) => {
      let bestMs = Infinity;
      for (let run = 0; run < ${RUNS}; run++) {
        const startedMs = performance.now();
        work[name]();
        bestMs = Math.min(bestMs, performance.now() - startedMs);
      }
      parentPort.postMessage(bestMs);
    });
    parentPort.postMessage("ready");`;
  const thread = new Worker(source, {
    eval: true,
    execArgv: ["--input-type=module"],
    workerData: { module, options },
  });
  await once(thread, "message");
  return thread;
}
