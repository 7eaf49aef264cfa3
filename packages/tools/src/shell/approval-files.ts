import type { ToolSession } from "@narthex/kernel";
import { absolutePath } from "../files/workspace-path.ts";
import type { ScopedCommand } from "./approval-scope.ts";
import { commandFacts, type ProgramFacts } from "./command-facts.ts";
import { runsCode } from "./runs-code.ts";

const MAKEFILES = ["GNUmakefile", "makefile", "Makefile"];
const MANIFESTS = ["package.json"];

/** Programs that run what these files of the working directory say. */
const RECIPES: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...["npm", "npx", "pnpm", "yarn", "bun"].map((name): [string, readonly string[]] => [name, MANIFESTS]),
  ...["make", "gmake"].map((name): [string, readonly string[]] => [name, MAKEFILES]),
  ["just", ["justfile", "Justfile", ".justfile"]],
  ["task", ["Taskfile.yml", "Taskfile.yaml"]],
  ["rake", ["Rakefile"]],
]);
/** Of the shell itself. */
const SOURCING = new Set([".", "source"]);
const MAX_PATH = 1024;
/** Where a sandbox has the workspace. */
const INSIDE = "/workspace";

/** Stands for a directory that a `cd` leads to: what is relative to it cannot be looked at. */
const ELSEWHERE = "/unknown";

/** Where a sandbox has programs that no call can change. */
const SYSTEM = /^\/(?:usr|bin|sbin|lib|lib64|opt|nix)\//;

/**
 * The files that a command would run: programs named by a path, scripts that are given to an interpreter, and the recipes of
 * `npm`, `make` and the like. What those load in turn is not among them. Of a program that lies elsewhere than in the
 * workspace, its path as it is: nothing is known about its content.
 */
export function commandFiles({ command, cwd }: ScopedCommand, session: ToolSession): string[] {
  const { programs, changes_directory: isElsewhere } = commandFacts(command);
  const start = cwd ? absolutePath(cwd, session) : session.workingDirectory;
  const here = isElsewhere ? ELSEWHERE : start;
  return [...new Set(programs.flatMap((program) => filesOf(program, here, session)))];
}

function filesOf({ name, args }: ProgramFacts, here: string, session: ToolSession): string[] {
  const program = name.slice(name.lastIndexOf("/") + 1);
  const isInterpreter = SOURCING.has(name) || runsCode(program, []);
  const [script = "", ...others] = isInterpreter ? args.flatMap(wordOf) : [];
  // Of what stands after the script, a path that lies elsewhere is what it works on.
  const inside = others.map((path) => placeOf(path, here, session)).filter((path) => !path.startsWith("/"));
  const programs = [...(name.includes("/") ? [name] : []), script, ...(RECIPES.get(program) ?? [])];
  return [...programs.map((path) => placeOf(path, here, session)), ...inside].filter(
    (path) => path !== "" && !SYSTEM.test(path),
  );
}

/** What an argument may name: itself, or what follows an option's `=`. */
function wordOf(arg: string): string[] {
  const word = arg.startsWith("-") ? arg.slice(arg.indexOf("=") + 1 || arg.length) : arg;
  return word === "" || word.length > MAX_PATH || /[\0\n]/.test(word) ? [] : [word];
}

/** Relative to the workspace where it lies there, else absolute; empty for no path at all. */
function placeOf(path: string, here: string, { workspace }: ToolSession): string {
  if (path === "") return "";
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${here}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  const absolute = `/${parts.join("/")}`;
  for (const root of [workspace, INSIDE]) {
    if (absolute.startsWith(`${root}/`)) return absolute.slice(root.length + 1);
  }
  return absolute === workspace || absolute === INSIDE ? "" : absolute;
}
