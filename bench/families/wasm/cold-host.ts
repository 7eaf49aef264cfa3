import { execFile } from "node:child_process";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { KernelError } from "@narthex/contracts";
import { openContainment } from "@narthex/host";
import { WASM_PAGE_BYTES } from "@narthex/kernel";
import { startWasmHost } from "../../../packages/host/src/wasm/start-wasm-host.ts";
import { WasmHostProcess } from "../../../packages/host/src/wasm/wasm-host-process.ts";
import { writeWasmProgram } from "../../../scripts/build/write-wasm-program.ts";
import { interleave } from "../../harness/interleave.ts";
import type { Measurement } from "../../harness/measurement.ts";
import { medianTime, ratioOf } from "../../harness/statistics.ts";
import { checksumCall } from "./checksum-tool.ts";

const COUNT = 8;
const MAX_RATIO = 3;
const START_MS = 60_000;
const run = promisify(execFile);

/** A host from nothing, as it is published: until it takes modules, and until it has answered with the first. */
export const coldHost: Measurement = async ({ rounds, scale, directory }) => {
  const count = Math.max(3, Math.round(COUNT * scale));
  await chmod(directory, 0o755);
  await writeWasmProgram(directory);
  const containment = await openContainment({ directory: join(directory, "sandbox") });
  const { module, limits, input } = await checksumCall("bench");
  const bytes = await module.read();
  const { signal } = new AbortController();

  const start = async (): Promise<WasmHostProcess> => {
    const host = new WasmHostProcess(
      await startWasmHost(containment, () => Promise.resolve(join(directory, "wasm-host"))),
    );
    await host.untilReady(START_MS);
    return host;
  };
  const answerFirst = async (host: WasmHostProcess): Promise<void> => {
    const options = { memoryPages: limits.memoryBytes / WASM_PAGE_BYTES, allowsSimd: false };
    await host.load("checksum", bytes, options, START_MS);
    const job = { key: "checksum", fuel: limits.fuel, input };
    const end = await host.run(job, () => Promise.resolve(new Uint8Array(0)), signal);
    if (end?.ending.kind !== "answered") throw new Error(`the module ended otherwise: ${end?.ending.kind}`);
  };
  /** The host's end is not part of it. */
  const timed = async (work: (host: WasmHostProcess) => Promise<void>): Promise<number> => {
    const hosts: WasmHostProcess[] = [];
    const time = await medianTime(count, async () => {
      const host = await start();
      hosts.push(host);
      await work(host);
    });
    for (const host of hosts) host.fail(new KernelError("CANCELLED", "it was measured"));
    await Promise.all(hosts.map(({ ended }) => ended));
    return time;
  };

  const results = await interleave(rounds, {
    ready: () => timed(() => Promise.resolve()),
    first: () => timed(answerFirst),
    node: () => medianTime(count, async () => void (await run(process.execPath, ["-e", "0"]))),
  });
  await containment.close();
  const node = { value: Math.min(...results.node), unit: "ms", name: "node -e 0" };
  return {
    rows: [
      {
        what: "p50 of starting a host in its sandbox",
        ours: { value: Math.min(...results.ready), unit: "ms" },
        beside: node,
        ratio: ratioOf(results.ready, results.node),
        bar: { of: "ratio", limit: "at most", value: MAX_RATIO },
        picture: "a host of WebAssembly tools, beside an empty Node",
      },
      {
        what: "the same, with a first thread, module and answer",
        ours: { value: Math.min(...results.first), unit: "ms" },
        beside: node,
        ratio: ratioOf(results.first, results.node),
      },
    ],
    raw: {
      "ready, p50 ms": results.ready,
      "first answer, p50 ms": results.first,
      "node -e 0, p50 ms": results.node,
    },
  };
};
