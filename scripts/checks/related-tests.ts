import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createImportResolver } from "./imports/import-resolver.ts";
import { readImports } from "./imports/read-imports.ts";

/** Unit tests of changed files: the changed tests themselves, tests in the same folder, and tests that import one. */
export function findRelatedTests(root: string, changed: readonly string[]): string[] {
  const files = new Set(changed.filter((file) => file.startsWith("packages/") && file.endsWith(".ts")));
  if (files.size === 0) return [];
  const folders = new Set([...files].map((file) => dirname(file)));
  const resolver = createImportResolver(root);
  const importsChanged = (test: string): boolean =>
    readImports(test, readFileSync(join(root, test), "utf8")).some(({ specifier }) =>
      files.has(resolver.resolve(test, specifier).path),
    );
  const tests = globSync("packages/*/src/**/*.test.ts", { cwd: root }).toSorted();
  const distance = (test: string): number =>
    files.has(test) ? 0 : folders.has(dirname(test)) ? 1 : importsChanged(test) ? 2 : 3;
  return tests
    .map((test) => ({ test, distance: distance(test) }))
    .filter((found) => found.distance < 3)
    .toSorted((a, b) => a.distance - b.distance)
    .map(({ test }) => test);
}
