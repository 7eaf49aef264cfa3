import { mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import createPlugin from "@extism/extism";
import { createWasmRunner, findTools, openContainment, storeTool } from "@narthex/host";
import { interleave } from "../../harness/interleave.ts";
import type { Measurement } from "../../harness/measurement.ts";
import { medianTime, ratioOf } from "../../harness/statistics.ts";
import { openWorkbench } from "../sandbox/open-workbench.ts";
import { CHECKSUM_ANSWER, CHECKSUM_MODULE, checksumCall } from "./checksum-tool.ts";

const COUNT = 300;
const MAX_RATIO = 3;
const EXTISM = new URL("checksum-extism.wasm", import.meta.url);
const ECHO = `
  const { parentPort } = require("node:worker_threads");
  parentPort.on("message", (message) => parentPort.postMessage(message));
`;

/** A small module on a warm pool: the whole call with its record, and the module alone. */
export const smallTool: Measurement = async ({ rounds, scale, directory }) => {
  const count = Math.max(20, Math.round(COUNT * scale));
  const home = join(directory, "home");
  await mkdir(home, { mode: 0o700 });
  for (const tool of (await findTools(CHECKSUM_MODULE.pathname)).tools) {
    await storeTool(join(home, "tools"), tool, { replace: false });
  }
  const bench = await openWorkbench(directory);
  const containment = await openContainment({ directory: join(directory, "sandbox") });
  const runner = createWasmRunner({ containment: () => Promise.resolve(containment) });
  const alone = await checksumCall("bench");
  const { signal } = new AbortController();
  const thread = new Worker(ECHO, { eval: true });
  const file = await open(join(directory, "appended"), "a");
  const page = Buffer.alloc(1024, 120);
  const plugin = await createPlugin(
    { wasm: [{ data: await readFile(EXTISM) }] },
    { runInWorker: true, useWasi: false },
  );

  const runAlone = async (): Promise<void> => {
    const { ending } = await runner.run(alone, () => Promise.resolve(new Uint8Array(0)), signal);
    if (ending.kind !== "answered") throw new Error(`the module ended otherwise: ${ending.kind}`);
  };
  const roundTrip = (): Promise<void> =>
    new Promise((resolve) => {
      thread.once("message", () => resolve());
      thread.postMessage(alone.input);
    });
  const runExtism = async (): Promise<void> => {
    const answer = await plugin.call("run", '"hello"');
    if (answer?.text().endsWith(String(CHECKSUM_ANSWER)) !== true) throw new Error("Extism answers something else");
  };

  const results = await interleave(rounds, {
    call: () => medianTime(count, () => bench.call("wasm_checksum", "hello")),
    bare: () =>
      medianTime(count, async () => {
        await roundTrip();
        await file.write(page);
        await file.datasync();
      }),
    alone: () => medianTime(count, runAlone),
    thread: () => medianTime(count, roundTrip),
    extism: () => medianTime(count, runExtism),
  });
  await Promise.all([bench.close(), runner.close(), thread.terminate(), file.close(), plugin.close()]);
  await containment.close();
  const best = (times: readonly number[]): number => Math.min(...times);
  return {
    rows: [
      {
        what: "p50 of a small module's call, recorded",
        ours: { value: best(results.call), unit: "ms" },
        beside: { value: best(results.bare), unit: "ms", name: "a worker thread's round trip and an fsync" },
        ratio: ratioOf(results.call, results.bare),
        bar: { of: "ratio", limit: "at most", value: MAX_RATIO },
        picture: "a small WebAssembly tool, beside a bare thread and an fsync",
      },
      {
        what: "p50 of the module alone, a host call in it",
        ours: { value: best(results.alone), unit: "ms" },
        beside: { value: best(results.thread), unit: "ms", name: "a worker thread's round trip" },
        ratio: ratioOf(results.alone, results.thread),
      },
      {
        what: "p50 of the module alone, a fresh instance in a sandbox",
        ours: { value: best(results.alone), unit: "ms" },
        beside: { value: best(results.extism), unit: "ms", name: "Extism, one instance in a worker thread" },
        ratio: ratioOf(results.alone, results.extism),
      },
    ],
    raw: {
      "call, p50 ms": results.call,
      "round trip and fsync, p50 ms": results.bare,
      "module alone, p50 ms": results.alone,
      "round trip, p50 ms": results.thread,
      "Extism, p50 ms": results.extism,
    },
    notes: [
      "Extism runs its plugin in a thread of this process, in one instance for all calls, without fuel and without a sandbox.",
    ],
  };
};
