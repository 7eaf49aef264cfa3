import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** Ids of processes whose command line holds `text`. */
export function findCommands(text: string): Promise<readonly number[]> {
  return findProcesses("cmdline", text);
}

/** Ids of processes that were started with `text` in a variable of their environment. */
export function findEnvironments(text: string): Promise<readonly number[]> {
  return findProcesses("environ", text);
}

/** Sends a signal to a process, or by a negative number to a group; one that has ended is no error. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  sendSignal(pid, signal);
}

/** Whether a process, or by a negative number one of a group, is there. */
export function isRunning(pid: number): boolean {
  return sendSignal(pid, 0);
}

/** Asks again until there is an answer; undefined when the time is over. */
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

/** False: there is no such process. */
function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (fault) {
    if (fault instanceof Error && "code" in fault && fault.code === "ESRCH") return false;
    throw fault;
  }
}
