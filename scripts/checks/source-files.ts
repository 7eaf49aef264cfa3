import { readdirSync } from "node:fs";
import { join, relative } from "node:path";

/** Files that are generated or third-party. */
const LEFT_OUT = new Set(["node_modules", "dist", ".git", "gen", "vectors", "package-lock.json", "LICENSE"]);

/** Every file written by hand, as paths below `root`. */
export function listSourceFiles(root: string): string[] {
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => !LEFT_OUT.has(entry.name))
    .flatMap((entry) => {
      const path = join(root, entry.name);
      if (entry.isDirectory()) return listSourceFiles(path).map((below) => join(entry.name, below));
      return entry.isFile() ? [relative(root, path)] : [];
    });
}
