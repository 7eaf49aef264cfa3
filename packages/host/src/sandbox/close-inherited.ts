import { closeSync, readdirSync, readFileSync } from "node:fs";

const LAST_STANDARD = 2;
const CLOSE_ON_EXEC = 0o2000000;

/**
 * Closes what this process was given open by whoever started it.
 *
 * SECURITY: every open file without close-on-exec is inherited by every child, sandboxed or not: a directory handle, a
 * socket to an agent, a database. Runs once, before anything is started, and is synchronous for that reason.
 */
export function closeInheritedFiles(): number[] {
  const closed: number[] = [];
  for (const name of readdirSync("/proc/self/fd")) {
    const fd = Number(name);
    if (fd <= LAST_STANDARD || !isInheritable(fd)) continue;
    closeSync(fd);
    closed.push(fd);
  }
  return closed;
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
