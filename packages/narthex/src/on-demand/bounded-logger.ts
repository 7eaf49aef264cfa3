import { appendFileSync, renameSync, statSync } from "node:fs";

/** Maximum size of one file; one older file is kept as well. */
const MAX_BYTES = 1024 * 1024;

/**
 * Appends lines to a file of bounded size: a full file is renamed to `FILE.1`, replacing the older one. A line that
 * cannot be written is dropped, because a full disk must not end the kernel.
 */
export function createBoundedLogger(path: string, maxBytes = MAX_BYTES): (text: string) => void {
  return (text) => {
    try {
      if (sizeOf(path) + text.length > maxBytes) renameSync(path, `${path}.1`);
      appendFileSync(path, text, { mode: 0o600 });
    } catch {
      // Dropped, as described above.
    }
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
