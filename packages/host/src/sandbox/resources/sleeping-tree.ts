import { readdirSync, readFileSync } from "node:fs";

/**
 * Returns a fingerprint of a small sleeping process tree that changes as soon as one of its threads has run. Returns
 * undefined if a thread is running, or if there are more than `maxProcesses`.
 *
 * SECURITY: synchronous, so that a decision based on it follows immediately. Includes the children of every thread.
 */
export function traceSleepingTree(root: number, maxProcesses: number): string | undefined {
  const lines: string[] = [];
  const pending = [root];
  let processes = 0;
  try {
    for (let pid = pending.pop(); pid !== undefined; pid = pending.pop()) {
      if (++processes > maxProcesses) return undefined;
      for (const thread of readdirSync(`/proc/${pid}/task`)) {
        const task = `/proc/${pid}/task/${thread}`;
        const [, state, switches] = STATUS.exec(readFileSync(`${task}/status`, "latin1")) ?? [];
        if (state !== SLEEPING || switches === undefined) return undefined;
        lines.push(`${pid} ${thread} ${switches}`);
        for (const child of readFileSync(`${task}/children`, "latin1").split(" "))
          if (child !== "") pending.push(Number(child));
      }
    }
  } catch {
    // A process has ended meanwhile.
    return undefined;
  }
  return lines.join("\n");
}

/** A sleeping thread cannot run without one more context switch. SPEC: proc_pid_status(5). */
const STATUS = /^State:\t(\S).*^(voluntary_ctxt_switches:\t\d+\nnonvoluntary_ctxt_switches:\t\d+)$/ms;
const SLEEPING = "S";
