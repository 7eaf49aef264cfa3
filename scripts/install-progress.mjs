// Must run on any Node since 16: no dependencies, no newer syntax.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT, say } from "./run-program.mjs";

const TERMINAL_EVERY_MS = 250;
const LINE_EVERY_MS = 10_000;

/**
 * Shows how many of the packages at these paths are unpacked: on a terminal in one line that is rewritten, elsewhere in a
 * line every ten seconds. Ends with `stop`.
 */
export function showProgress(paths, { stream = process.stderr, everyMs = LINE_EVERY_MS } = {}) {
  const startedMs = Date.now();
  const waiting = new Set(paths.map((path) => join(ROOT, path, "package.json")));
  const describe = () => {
    // npm creates the folders first, and writes files into them later.
    for (const file of waiting) if (existsSync(file)) waiting.delete(file);
    const seconds = Math.round((Date.now() - startedMs) / 1000);
    return `${paths.length - waiting.size} of ${paths.length} packages, ${seconds} s`;
  };
  const show = stream.isTTY ? () => stream.write(`\r\u001b[Ksetup: ${describe()}`) : () => say(describe());
  const timer = setInterval(show, stream.isTTY ? TERMINAL_EVERY_MS : everyMs);
  return {
    stop() {
      clearInterval(timer);
      if (stream.isTTY) stream.write("\r\u001b[K");
    },
  };
}
