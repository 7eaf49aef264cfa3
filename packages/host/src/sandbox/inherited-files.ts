import { readdirSync, readFileSync } from "node:fs";

const LAST_STANDARD = 2;
const CLOSE_ON_EXEC = 0o2000000;

/**
 * Finds file descriptors that this process inherited and that every child would inherit too.
 *
 * SECURITY: one may be a directory of the host, an agent's socket or a database. The kernel does not close them, since
 * the embedding program may use them; sandboxes get /dev/null in their place. Node opens its own files so that children
 * do not inherit them. Called once, before anything is started, and therefore synchronous.
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
    // The descriptor of the directory listing itself, closed by now.
    return false;
  }
}
