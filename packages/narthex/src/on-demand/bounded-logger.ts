import { appendFileSync, renameSync, statSync } from "node:fs";

/** Of one file; the one before it is kept as well. */
const MAX_BYTES = 1024 * 1024;

/**
 * Appends lines to a file that stays bounded: when it is full it becomes `FILE.1`, in place of the one before. A line that
 * cannot be written is dropped, because a full disk must not end the kernel.
 */
export function createBoundedLogger(path: string, maxBytes = MAX_BYTES): (text: string) => void {
  return (text) => {
    try {
      if (sizeOf(path) + text.length > maxBytes) renameSync(path, `${path}.1`);
      appendFileSync(path, text, { mode: 0o600 });
    } catch {
      // See above.
    }
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
