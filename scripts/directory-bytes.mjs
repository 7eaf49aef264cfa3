// Must run on any Node since 16: no dependencies, no newer syntax.
import { existsSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** The total size of all files below a folder; links are counted, not followed. */
export function directoryBytes(folder) {
  if (!existsSync(folder)) return 0;
  return readdirSync(folder, { withFileTypes: true }).reduce((bytes, entry) => {
    const path = join(folder, entry.name);
    return bytes + (entry.isDirectory() ? directoryBytes(path) : lstatSync(path).size);
  }, 0);
}
