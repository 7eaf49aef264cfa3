import type { ProgramFacts } from "./command-facts.ts";

/** Programs whose first argument says what they do. */
const WITH_SUBCOMMANDS = new Set(
  (
    "git npm pnpm yarn bun deno cargo go dotnet mvn gradle make gmake just task rake bundle mix composer pip pip3 uv poetry " +
    "hatch rustup docker kubectl terraform systemctl apt apt-get gh"
  ).split(" "),
);
const RUNNERS = new Set(["npm", "pnpm", "yarn", "bun"]);

/**
 * What a list of allowed commands names: `ls`, `git log`, `npm run test`, `python3 -m pytest`, `node --test`.
 * SECURITY: never shorter than what tells one use of a program from another; options in front of a subcommand stand in its
 * place, so they are on no list.
 */
export function headOf({ name, args }: Pick<ProgramFacts, "name" | "args">): string {
  return [name, ...args.slice(0, wordsAfter(name, args))].join(" ");
}

function wordsAfter(name: string, args: readonly string[]): number {
  const [first = ""] = args;
  if (/^(?:python|pypy)[\d.]*$/.test(name)) return first === "-m" ? 2 : 1;
  if (name === "node") return 1;
  if (!WITH_SUBCOMMANDS.has(name)) return 0;
  return RUNNERS.has(name) && (first === "run" || first === "run-script") ? 2 : 1;
}
