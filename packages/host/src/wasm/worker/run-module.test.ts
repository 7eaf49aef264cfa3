import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { meterModule, stackBytesFor } from "@narthex/meter";
import { HOST_TYPE } from "./host-type.ts";
import { HOST_IMPORT, MAX_DEPTH, MAX_TABLE_ENTRIES } from "./messages.ts";
import type { ModuleRun } from "./run-module.ts";

/** Its `alloc` calls the host, for whose answer `alloc` is called. */
const ENDLESS = `(module (import "narthex" "host" (func $host (param i32 i32 i32) (result i64))) (memory (export "memory") 1)
  (func (export "alloc") (param i32) (result i32)
    (drop (call $host (i32.const 3) (i32.const 0) (i32.const 0))) (i32.const 1024))
  (func (export "run") (param i32 i32) (result i64) (i64.const 1)))`;

test("a module that comes back to its host ever again ends by depth, at the same count each time", async () => {
  const metered = meterModule(execFileSync("wat2wasm", ["-", "--output=-"], { input: ENDLESS }), {
    memoryPages: 1,
    tableEntries: MAX_TABLE_ENTRIES,
    maxDepth: MAX_DEPTH,
    allowSimd: false,
    imports: new Set([`${HOST_IMPORT.module}.${HOST_IMPORT.name}`]),
    importType: HOST_TYPE,
  });
  if (!metered.ok) assert.fail(metered.message);
  const loaded = { module: new WebAssembly.Module(metered.code), added: metered.exports, memoryPages: 1 };
  // With the stack that threads of a host have; the code is interpreted at first, and compiled later.
  const source = `const { runModule } = await import(${JSON.stringify(new URL("./run-module.ts", import.meta.url).href)});
    const { parentPort, workerData } = await import("node:worker_threads");
    const runs = [];
    for (let round = 0; round < 20; round++) runs.push(runModule(workerData, 1e10, new Uint8Array(2), () => new Uint8Array(1)));
    parentPort.postMessage(runs);`;
  const worker = new Worker(source, {
    eval: true,
    execArgv: ["--input-type=module", "--disable-warning=ExperimentalWarning"],
    workerData: loaded,
    resourceLimits: { stackSizeMb: Math.ceil(stackBytesFor(MAX_DEPTH) / 2 ** 20) },
  });
  const runs = await new Promise<ModuleRun[]>((resolve, reject) => worker.on("message", resolve).on("error", reject));
  assert.deepEqual(new Set(runs.map(({ ending }) => ending.how === "exceeded" && ending.limit)), new Set(["depth"]));
  assert.equal(new Set(runs.map(({ use }) => use.fuel)).size, 1);
});
