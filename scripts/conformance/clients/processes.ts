import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** Ids of processes whose command line contains `text`. */
export function findCommands(text: string): Promise<readonly number[]> {
  return findProcesses("cmdline", text);
}

/** Ids of processes that were started with `text` in an environment variable. */
export function findEnvironments(text: string): Promise<readonly number[]> {
  return findProcesses("environ", text);
}

/** Sends a signal to a process, or to a process group if the number is negative; ignores one that has ended. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  sendSignal(pid, signal);
}

/** Whether a process exists, or any process of a group if the number is negative. */
export function isRunning(pid: number): boolean {
  return sendSignal(pid, 0);
}

/** Polls until there is a result; undefined after the timeout. */
export async function waitFor<T>(
  ask: () => Promise<T | undefined> | T | undefined,
  timeoutMs: number,
): Promise<T | undefined> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined || performance.now() >= deadline) return answer;
    await sleep(50);
  }
}

async function findProcesses(file: "cmdline" | "environ", text: string): Promise<readonly number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const isMatch = async (pid: number): Promise<boolean> =>
    pid !== process.pid && (await readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "")).includes(text);
  const matches = await Promise.all(pids.map(isMatch));
  return pids.filter((_, index) => matches[index]);
}

/** False if there is no such process. */
function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (fault) {
    if (fault instanceof Error && "code" in fault && fault.code === "ESRCH") return false;
    throw fault;
  }
}
