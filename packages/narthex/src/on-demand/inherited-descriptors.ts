import { readdirSync, readFileSync } from "node:fs";
import type { StdioOptions } from "node:child_process";

const CLOSE_ON_EXEC = 0o2000000;
const STANDARD = 3;
const MAX_DESCRIPTOR = 4096;

/**
 * Builds the stdio of a child that inherits no descriptor of this process: standard input is empty, and everything else
 * is the file.
 *
 * Node marks inherited descriptors so that children do not get them, but stops at the first gap in the numbers. A pipe
 * beyond the gap, kept open by a kernel, would leave the process that reads it waiting long after the client has ended.
 */
export function detachedStdio(file: number): StdioOptions {
  const inherited = inheritableDescriptors();
  const length = Math.max(STANDARD, ...inherited.map((descriptor) => descriptor + 1));
  return Array.from({ length }, (_, descriptor) => {
    const isStandardOutput = descriptor === 1 || descriptor === 2;
    return isStandardOutput || inherited.includes(descriptor) ? file : "ignore";
  });
}

/** Lists the descriptors above the standard ones that a child would inherit. */
function inheritableDescriptors(): number[] {
  return readdirSync("/proc/self/fdinfo")
    .map(Number)
    .filter((descriptor) => descriptor >= STANDARD && descriptor < MAX_DESCRIPTOR && isInheritable(descriptor));
}

function isInheritable(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // The descriptor with which the directory itself was read.
    return false;
  }
}
