import { globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type CheckResult, judge } from "../check.ts";
import { REPOSITORY } from "../run-tool.ts";
import { findCycles } from "./find-cycles.ts";
import { createImportResolver, type Target } from "./import-resolver.ts";
import { type ImportRule, importRules } from "./import-rules.ts";
import { type Import, readImports } from "./read-imports.ts";

/** Minimum number of modules: a checker that cannot read the sources would find nothing wrong with them. */
const FEWEST_MODULES = 60;
const FILES = "{packages,test,scripts,bench,campaigns,examples}/**/*.{ts,mts,cts,tsx,js,mjs,cjs,jsx}";

interface Edge extends Import {
  readonly file: string;
  readonly target: Target;
}

/** Checks the imports of the tree at `root` against the rules. */
export function checkImports(root = REPOSITORY, fewestModules = FEWEST_MODULES): CheckResult {
  const files = globSync(FILES, { cwd: root, exclude: (name) => name.endsWith("node_modules") }).toSorted();
  const resolver = createImportResolver(root);
  const edges = files.flatMap((file) =>
    readImports(file, readFileSync(join(root, file), "utf8")).map(
      (found): Edge => ({ ...found, file, target: resolver.resolve(file, found.specifier) }),
    ),
  );
  const problems = [...new Set([...findForbidden(edges, importRules(root)), ...findCircles(edges)])];

  const seen = files.filter((file) => file.startsWith("packages/"));
  if (seen.length < fewestModules)
    problems.push(`looked at ${seen.length} modules, expected at least ${fewestModules}`);
  const packages = readdirSync(join(root, "packages"));
  for (const name of packages) {
    if (!seen.some((file) => file.startsWith(`packages/${name}/src/`)))
      problems.push(`saw nothing of packages/${name}`);
  }
  return judge(problems, `${seen.length} modules in ${packages.length} packages`);
}

function findForbidden(edges: readonly Edge[], rules: readonly ImportRule[]): string[] {
  const matches = (path: string, expression: string): boolean => new RegExp(expression).test(path);
  return [...Map.groupBy(edges, ({ file }) => file)].flatMap(([file, ofFile]) => {
    const applying = rules.flatMap(({ from = {}, ...rule }) => {
      const match = new RegExp(from.path ?? "").exec(file);
      if (match === null || from.pathNot?.some((expression) => matches(file, expression)) === true) return [];
      const pathNot = rule.to.pathNot?.map(
        (expression) => new RegExp(expression.replaceAll("$1", RegExp.escape(match[1] ?? ""))),
      );
      return [{ ...rule, path: new RegExp(rule.to.path ?? ""), pathNot }];
    });
    return ofFile.flatMap(({ target, isTypeOnly }) =>
      applying
        .filter(({ to, path, pathNot, exceptTypes }) => {
          if (exceptTypes === true && isTypeOnly) return false;
          if (to.kinds?.includes(target.kind) === false) return false;
          return path.test(target.path) && pathNot?.some((expression) => expression.test(target.path)) !== true;
        })
        .map(({ name }) => `${file}: ${name}: ${target.path}`),
    );
  });
}

/** Finds modules that import each other, which makes them one module. */
function findCircles(edges: readonly Edge[]): string[] {
  const values = edges.filter(({ isTypeOnly, target }) => !isTypeOnly && target.kind === "file");
  const graph = Map.groupBy(values, ({ file }) => file);
  const cycles = findCycles(
    new Map([...graph].map(([file, ofFile]) => [file, ofFile.map(({ target }) => target.path)])),
  );
  return cycles.map(([first, ...others]) => `${first}: no-cycles: ${others.join(", ")}`);
}
