import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { ContainedProgram } from "../sandbox/start-contained.ts";

const MAX_DYING_MS = 5000;
const FIRST_POLL_MS = 1;
const MAX_POLL_MS = 16;

/**
 * Waits until nothing of a program's process namespace runs any more. False where that could not be seen in time.
 *
 * SECURITY: bubblewrap tells how the program ended before the system has killed the processes that the program left behind, and
 * can itself die before its program. Only the end of the namespace's first process proves the end of all others: the system ends
 * and collects them before it. Tested by "a program that ends by itself has ended only when no process of its namespace runs".
 */
export async function waitForExit(started: ContainedProgram): Promise<boolean> {
  started.kill();
  const pid = await started.pid.catch(() => undefined);
  if (pid === undefined) return true;
  const startTime = readRunning(pid);
  const endMs = performance.now() + MAX_DYING_MS;
  // Another process that was given the number since began later.
  for (let pollMs = FIRST_POLL_MS; startTime !== undefined && readRunning(pid) === startTime; pollMs *= 2) {
    if (performance.now() > endMs) return false;
    await pause(Math.min(pollMs, MAX_POLL_MS));
  }
  return true;
}

/**
 * When the process with this number began; undefined where it has ended, collected or not. Read at once: the file is of the
 * system's own making, and a thread of the pool would take longer than all the rest.
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
