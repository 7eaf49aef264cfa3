import type { ProgramFacts } from "./command-facts.ts";
import { readKnownOptions } from "./read-known-options.ts";

/** Programs whose first argument selects what they do. */
const WITH_SUBCOMMANDS = new Set(
  (
    "git npm pnpm yarn bun deno cargo go dotnet ruff just task rake bundle mix composer pip pip3 uv poetry " +
    "hatch rustup docker kubectl terraform systemctl apt apt-get gh biome vitest swift cmake"
  ).split(" "),
);
const RUNNERS = new Set(["npm", "pnpm", "yarn", "bun"]);
/** Programs whose operands each name something to do. */
const WITH_TARGETS = new Set(["make", "gmake", "gradle", "mvn", "./gradlew", "./mvnw"]);

/**
 * The part of a command that a list of allowed commands names: `ls`, `git log`, `npm run test`, `python3 -m pytest`,
 * `node --test`, `make test`.
 * SECURITY: never shorter than necessary to distinguish uses of a program. Options before a subcommand take its place,
 * so they match no list entry; of several targets all are named; and a space inside a word is distinct from one between
 * words.
 */
export function headOf({ name, args }: Pick<ProgramFacts, "name" | "args">): string {
  if (name === "git" && args[0] === "--no-pager") return headOf({ name, args: args.slice(1) });
  const words = WITH_TARGETS.has(name) ? targetsOf(name, args) : args.slice(0, wordsAfter(name, args));
  return [name, ...words.map((word) => (/\s/.test(word) ? `'${word}'` : word))].join(" ");
}

/** The arguments without options, if all options are known not to change what is done. */
function targetsOf(name: string, args: readonly string[]): readonly string[] {
  const use = readKnownOptions(name.replace(/^\.\//, ""), args);
  return use === undefined || use.unknown ? args : use.operands;
}

function wordsAfter(name: string, args: readonly string[]): number {
  const [first = ""] = args;
  if (/^(?:python|pypy)[\d.]*$/.test(name)) return first === "-m" ? 2 : 1;
  if (name === "node") return 1;
  if (!WITH_SUBCOMMANDS.has(name)) return 0;
  return RUNNERS.has(name) && (first === "run" || first === "run-script") ? 2 : 1;
}
