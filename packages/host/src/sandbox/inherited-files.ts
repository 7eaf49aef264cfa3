import { readdirSync, readFileSync } from "node:fs";

const LAST_STANDARD = 2;
const CLOSE_ON_EXEC = 0o2000000;

/**
 * What this process was given open by whoever started it, and would hand on to every child.
 *
 * SECURITY: that may be a directory of the host, a socket to an agent, a database. It is not ours to close, since the
 * program around the kernel may use it; sandboxes get nothing in its place. Node opens its own files so that children
 * do not inherit them. Runs once, before anything is started, and is synchronous for that reason.
 */
export function findInheritedFiles(): readonly number[] {
  return readdirSync("/proc/self/fd")
    .map(Number)
    .filter((fd) => fd > LAST_STANDARD && isInheritable(fd))
    .sort((left, right) => left - right);
}

function isInheritable(fd: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "latin1"))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // The handle of the listing itself, closed by now.
    return false;
  }
}
