import type { ToolSession } from "@narthex/kernel";
import { absolutePath } from "../files/workspace-path.ts";
import type { ScopedCommand } from "./approval-scope.ts";
import { commandFacts, type ProgramFacts } from "./command-facts.ts";
import { runsCode } from "./runs-code.ts";

/** The files in its working directory that a program executes, and the options that name another directory or file. */
interface Recipe {
  readonly files: readonly string[];
  /** Short and long option names, without their dashes. */
  readonly directory: readonly string[];
  readonly file: readonly string[];
}

const PACKAGE: Recipe = { files: ["package.json"], directory: ["C", "prefix", "dir", "cwd"], file: [] };
const MAKE: Recipe = {
  files: ["GNUmakefile", "makefile", "Makefile"],
  directory: ["C", "directory"],
  file: ["f", "file", "makefile"],
};

/** Programs that execute the contents of files in their working directory. */
const RECIPES: ReadonlyMap<string, Recipe> = new Map<string, Recipe>([
  ...["npm", "npx", "pnpm", "yarn", "bun"].map((name): [string, Recipe] => [name, PACKAGE]),
  ...["make", "gmake"].map((name): [string, Recipe] => [name, MAKE]),
  [
    "just",
    {
      files: ["justfile", "Justfile", ".justfile"],
      directory: ["d", "working-directory"],
      file: ["f", "justfile"],
    },
  ],
  ["task", { files: ["Taskfile.yml", "Taskfile.yaml"], directory: ["d", "dir"], file: ["t", "taskfile"] }],
  ["rake", { files: ["Rakefile"], directory: ["C", "directory"], file: ["f", "rakefile"] }],
]);
/** Builtins of the shell that execute a file. */
const SOURCING = new Set([".", "source"]);
const MAX_PATH = 1024;
/** Path of the workspace in a sandbox. */
const INSIDE = "/workspace";

/** Placeholder for the directory after a `cd`: files relative to it cannot be inspected. */
const ELSEWHERE = "/unknown";

/** Directories of a sandbox with programs that no call can change. */
const SYSTEM = /^\/(?:usr|bin|sbin|lib|lib64|opt|nix)\//;

/**
 * The files that a command would execute: programs named by a path, scripts passed to an interpreter as an argument or
 * as input, and the recipes of `npm`, `make` and the like. Files that those load in turn are not included. A program
 * outside the workspace is listed by its path; its content is unknown.
 */
export function commandFiles({ command, cwd }: ScopedCommand, session: ToolSession): string[] {
  const { programs, redirections, changes_directory: isElsewhere } = commandFacts(command);
  const start = cwd ? absolutePath(cwd, session) : session.workingDirectory;
  const here = isElsewhere ? ELSEWHERE : start;
  const files = programs.flatMap((program) => filesOf(program, here, session));
  if (programs.some(readsScript)) {
    const read = redirections.filter(({ mode }) => mode === "read").map(({ path }) => path);
    const given = programs.filter((program) => !readsScript(program)).flatMap(({ args }) => args.flatMap(wordOf));
    files.push(...insideOf([...read, ...given], here, session));
  }
  return [...new Set(files)];
}

/** An interpreter without a script executes its standard input. */
function readsScript({ name, args }: ProgramFacts): boolean {
  return runsCode(name.slice(name.lastIndexOf("/") + 1), []) && args.flatMap(wordOf).length === 0;
}

function insideOf(paths: readonly string[], here: string, session: ToolSession): string[] {
  return paths.map((path) => placeOf(path, here, session)).filter((path) => path !== "" && !path.startsWith("/"));
}

function filesOf({ name, args }: ProgramFacts, here: string, session: ToolSession): string[] {
  const program = name.slice(name.lastIndexOf("/") + 1);
  const isInterpreter = SOURCING.has(name) || runsCode(program, []);
  const [script = "", ...others] = isInterpreter ? args.flatMap(wordOf) : [];
  // After the script, a path outside the workspace counts as data that the script works on.
  const inside = insideOf(others, here, session);
  const programs = [...(name.includes("/") ? [name] : []), script, ...recipesOf(RECIPES.get(program), args)];
  return [...programs.map((path) => placeOf(path, here, session)), ...inside].filter(
    (path) => path !== "" && !SYSTEM.test(path),
  );
}

/** Paths relative to the directory in which the program starts. */
function recipesOf(recipe: Recipe | undefined, args: readonly string[]): string[] {
  if (recipe === undefined) return [];
  const directories = valuesOf(recipe.directory, args);
  const files = valuesOf(recipe.file, args);
  // Each further directory option is relative to the previous one or replaces it, so the result is unknown.
  const [directory = "."] = directories.length > 1 ? [ELSEWHERE] : directories;
  const within = (path: string): string => (path.startsWith("/") ? path : `${directory}/${path}`);
  return [...recipe.files.map(within), ...files.flatMap((file) => [file, within(file)])];
}

/** The values of options: `-f x`, `-fx`, `-kf x`, `--file x`, `--file=x`, and abbreviations of long names. */
function valuesOf(options: readonly string[], args: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    const next = args[index + 1] ?? "";
    const [, name, value] = /^--([^=]+)(?:=(.*))?$/su.exec(arg) ?? [];
    if (name !== undefined)
      return options.some((long) => long.length > 1 && long.startsWith(name)) ? [value ?? next] : [];
    if (!arg.startsWith("-")) return [];
    const at = arg.split("").findIndex((letter) => options.includes(letter));
    return at === -1 ? [] : [arg.slice(at + 1).replace(/^=/u, "") || next];
  });
}

/** The possible path in an argument: the argument itself, or the text after an option's `=`. */
function wordOf(arg: string): string[] {
  const word = arg.startsWith("-") ? arg.slice(arg.indexOf("=") + 1 || arg.length) : arg;
  return word === "" || word.length > MAX_PATH || /[\0\n]/.test(word) ? [] : [word];
}

/** Relative to the workspace if the path is inside it, otherwise absolute; empty if it is the workspace itself. */
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
