import type { ProgramFacts } from "./command-facts.ts";
import { MAX_WRAPPERS } from "./command-limits.ts";
import { runsCode } from "./runs-code.ts";
import { wrappedProgram } from "./wrapped-program.ts";
import { writesFiles } from "./writes-files.ts";

export interface ExpandedProgram {
  /** The program itself, then those that it runs. */
  readonly programs: readonly ProgramFacts[];
  /** Why the command is not literal. */
  readonly reasons: readonly string[];
  /** `NAME=VALUE` for one of the programs. */
  readonly assignments: readonly string[];
  readonly changesDirectory: boolean;
}

/**
 * Builtins that change the meaning of later words, or that evaluate their arguments. `export`, `read`, `printf -v` and
 * the like set variables, such as PATH; `test -v`, `let`, `unset` and the like evaluate the subscript of `a[$(x)]`.
 */
const STATEFUL_BUILTINS: ReadonlySet<string> = new Set(
  (
    "eval source . alias unalias trap shopt enable set export declare typeset local readonly unset let read readarray " +
    "mapfile getopts hash bind complete compgen compopt fc history coproc function select newgrp setenv unsetenv"
  ).split(" "),
);
/** Builtins that do so only with such an option. */
const STATEFUL_OPTIONS: ReadonlyMap<string, RegExp> = new Map([
  // Bash's `%n` stores the number of characters so far in the variable that the next argument names.
  ["printf", /^-v|%[-+ #'*.\dhjlLqtz]*n/],
  ["wait", /^-[a-z]*p/],
  ["jobs", /^-[a-z]*x/],
  ["test", /^-[vR]$/],
  ["[", /^-[vR]$/],
]);
const DIRECTORY_BUILTINS: ReadonlySet<string> = new Set(["cd", "pushd", "popd", "chdir"]);
const FIND_ACTIONS: ReadonlySet<string> = new Set(["-exec", "-execdir", "-ok", "-okdir"]);

type Written = Pick<ProgramFacts, "name" | "args" | "literal">;

/** Unwraps programs that run programs, so that the one in `env nice ls` is treated like any other. */
export function expandProgram(written: Written): ExpandedProgram {
  const programs: ProgramFacts[] = [];
  const reasons: string[] = [];
  const assignments: string[] = [];
  let changesDirectory = false;
  const queue: { readonly program: Written; readonly via: string; readonly depth: number }[] = [
    { program: written, via: "", depth: 0 },
  ];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const { program, via, depth } = next;
    const name = baseName(program.name);
    const { args } = program;
    programs.push({ ...program, interpreter: runsCode(name, args), writes: writesFiles(name, args), via });
    const reason = findNameProblem(program.name, args);
    if (reason !== undefined) reasons.push(reason);
    if (DIRECTORY_BUILTINS.has(program.name)) changesDirectory = true;
    const inner = innerPrograms(name, args);
    if (inner.reason !== undefined) reasons.push(inner.reason);
    assignments.push(...(inner.assignments ?? []));
    if (inner.programs.length > 0 && depth === MAX_WRAPPERS) reasons.push("too many programs that run programs");
    else {
      const literal = program.literal && inner.reason === undefined;
      for (const found of inner.programs) queue.push({ program: { ...found, literal }, via: name, depth: depth + 1 });
    }
  }
  return { programs, reasons, assignments, changesDirectory };
}

interface InnerPrograms {
  readonly programs: readonly Pick<ProgramFacts, "name" | "args">[];
  readonly assignments?: readonly string[];
  readonly reason?: string;
}

function innerPrograms(name: string, args: readonly string[]): InnerPrograms {
  if (name === "find") {
    const programs = findActions(args);
    return programs.length === 0 ? { programs } : { programs, reason: "arguments from the names of files" };
  }
  const wrapped = wrappedProgram(name, args);
  if (wrapped.kind === "none") return { programs: [] };
  if (wrapped.kind === "unclear") return { programs: [], reason: wrapped.reason };
  return {
    programs: [{ name: wrapped.name, args: wrapped.args }],
    assignments: wrapped.assignments,
    ...(wrapped.reason === undefined ? {} : { reason: wrapped.reason }),
  };
}

/** The commands that `find` runs for each file; `{}` stands for the file's name. */
function findActions(args: readonly string[]): Pick<ProgramFacts, "name" | "args">[] {
  const found: Pick<ProgramFacts, "name" | "args">[] = [];
  for (let at = 0; at < args.length; at++) {
    if (!FIND_ACTIONS.has(args[at] ?? "")) continue;
    const end = args.findIndex((arg, index) => index > at && (arg === ";" || arg === "+"));
    const [name = "", ...rest] = args.slice(at + 1, end === -1 ? args.length : end);
    found.push({ name, args: rest });
    if (end === -1) break;
    at = end;
  }
  return found;
}

function findNameProblem(name: string, args: readonly string[]): string | undefined {
  if (name === "") return "program without a name";
  if (/\s/.test(name)) return "white space in a program's name";
  // People cannot distinguish a name that only looks like the one in a rule.
  if (/[^!-~]/.test(name)) return "program's name is not ASCII";
  if (STATEFUL_BUILTINS.has(name)) return `${name} changes what follows or runs its arguments`;
  const option = STATEFUL_OPTIONS.get(name);
  if (option !== undefined && args.some((arg) => option.test(arg)))
    return `option of ${name} that sets or evaluates a variable`;
  return undefined;
}

function baseName(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}
