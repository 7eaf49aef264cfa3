import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { ContainedProgram } from "../sandbox/start-contained.ts";

const MAX_DYING_MS = 5000;
const FIRST_POLL_MS = 1;
const MAX_POLL_MS = 16;

/**
 * Waits until every process in a program's namespace has ended. Returns false if that was not observed in time.
 *
 * SECURITY: bubblewrap reports the program's end before the system has killed the processes left behind, and can itself
 * die before its program. Only the end of the namespace's first process proves the end of all others: the system kills
 * and reaps them before it. Tested by "a program that ends by itself has ended only when no process of its namespace
 * runs".
 */
export async function waitForExit(started: ContainedProgram): Promise<boolean> {
  started.kill();
  const pid = await started.pid.catch(() => undefined);
  if (pid === undefined) return true;
  const startTime = readRunning(pid);
  const endMs = performance.now() + MAX_DYING_MS;
  // Another process that reuses the pid has a later start time.
  for (let pollMs = FIRST_POLL_MS; startTime !== undefined && readRunning(pid) === startTime; pollMs *= 2) {
    if (performance.now() > endMs) return false;
    await pause(Math.min(pollMs, MAX_POLL_MS));
  }
  return true;
}

/**
 * Returns the start time of a running process; undefined if it has ended, even if it is still a zombie. Synchronous:
 * /proc does no disk I/O, and the thread pool would take longer than the rest.
 */
function readRunning(pid: number): string | undefined {
  const fields = readStat(pid)
    .replace(/^.*\) /s, "")
    .split(" ");
  const [state = "", startTime] = [fields[0], fields[19]];
  return "ZX".includes(state) ? undefined : startTime;
}

function readStat(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return "";
  }
}
