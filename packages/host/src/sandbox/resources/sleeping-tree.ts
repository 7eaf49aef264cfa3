import { readdirSync, readFileSync } from "node:fs";

/**
 * What the processes of a small tree have done so far, as one text that changes as soon as one of their threads has run.
 * Undefined if one of them is at work, or if there are more than `maxProcesses`.
 *
 * SECURITY: read without a pause, so that what is decided on it follows at once. Children of every thread count.
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
    // It has ended meanwhile.
    return undefined;
  }
  return lines.join("\n");
}

/** A thread that waits for something runs again only with one more switch. SPEC: proc_pid_status(5). */
const STATUS = /^State:\t(\S).*^(voluntary_ctxt_switches:\t\d+\nnonvoluntary_ctxt_switches:\t\d+)$/ms;
const SLEEPING = "S";
