import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { readScript } from "./read-script.ts";
import type { ScriptJob } from "./run-script-worker.ts";
import type { ScriptReport } from "./script-report.ts";

/** Deep recursion ends at the depth limit, long before this much stack is used. */
const STACK_MB = 64;
const TIMEOUT_MS = 180_000;

export type ScriptEnd =
  | { readonly report: ScriptReport; readonly leftOut: number }
  /** `wast2json` cannot read any of it. */
  | { readonly unreadable: string }
  /** The run itself failed, which is always a problem. */
  | { readonly failed: string };

/** Runs one script in its own thread. */
export async function runScript(file: string, spectest: Uint8Array): Promise<ScriptEnd> {
  const directory = await mkdtemp(join(tmpdir(), "narthex-wasm-suite-"));
  try {
    const script = await readScript(file, directory);
    if ("unreadable" in script) return script;
    const job: ScriptJob = { directory, commands: script.commands, spectest };
    const end = await runInThread(job);
    return typeof end === "string" ? { failed: end } : { report: end, leftOut: script.leftOut };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function runInThread(workerData: ScriptJob): Promise<ScriptReport | string> {
  const worker = new Worker(new URL("./run-script-worker.ts", import.meta.url), {
    workerData,
    resourceLimits: { stackSizeMb: STACK_MB },
  });
  const { promise, resolve } = Promise.withResolvers<ScriptReport | string>();
  const timer = setTimeout(() => resolve("it takes too long"), TIMEOUT_MS);
  worker.on("message", (report: ScriptReport) => resolve(report));
  worker.on("error", (fault) => resolve(String(fault)));
  worker.on("exit", (code) => resolve(`the thread ended with ${code}`));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
