import { fork } from "node:child_process";
import { rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Answer, Orders } from "./measure-child.ts";
import type { Bench } from "./measurement.ts";

export interface MeasurementRun extends Omit<Orders, "bench"> {
  /** Where its directory is made. */
  readonly scratch: string;
  readonly bench: Omit<Bench, "directory">;
}

const CHILD = fileURLToPath(new URL("measure-child.ts", import.meta.url));
const EARLY_ENDS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Runs one measurement in a process of its own, so that the memory and the compiled code of one are nothing to the
 * other, and kills it with all it started when the family's time is over.
 */
export async function runMeasurement({ scratch, bench, ...orders }: MeasurementRun): Promise<Answer> {
  const directory = await mkdtemp(join(scratch, "narthex-bench-"));
  try {
    return await runChild({ ...orders, bench: { ...bench, directory } });
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

function runChild(orders: Orders): Promise<Answer> {
  return new Promise((resolve) => {
    const child = fork(CHILD, [], {
      execArgv: ["--expose-gc"],
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      // A process group of its own: servers that a measurement started end with it, whatever it ends by.
      detached: true,
    });
    let answer: Answer | undefined;
    const end = (reason: string): void => {
      answer ??= { failed: reason };
      killGroup(child.pid);
    };
    const timeLeftMs = Math.max(0, orders.bench.deadlineMs - Date.now());
    const timer = setTimeout(() => end("the family's time was over"), timeLeftMs);
    const onEarlyEnd = (signal: NodeJS.Signals): void => {
      killGroup(child.pid);
      rmSync(orders.bench.directory, { recursive: true, force: true, maxRetries: 5 });
      process.kill(process.pid, signal);
    };
    for (const signal of EARLY_ENDS) process.once(signal, onEarlyEnd);
    child.on("message", (message) => {
      answer = message as Answer;
    });
    child.on("error", (error) => end(error.message));
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      for (const name of EARLY_ENDS) process.off(name, onEarlyEnd);
      end(`its process ended early (${signal ?? code ?? "unknown"})`);
      resolve(answer ?? { failed: "nothing was answered" });
    });
    child.send(orders);
  });
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // All of them have ended.
  }
}
