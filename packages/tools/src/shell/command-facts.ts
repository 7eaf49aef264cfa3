import { readCommand } from "./read-command.ts";

/** One program that a command would run. */
export interface ProgramFacts {
  /** As written, without quotes. If it is not literal: its source text. */
  readonly name: string;
  readonly args: readonly string[];
  /** Whether the name and every argument are exactly what the program will get. */
  readonly literal: boolean;
  /** Whether it takes instructions from its arguments or its standard input: `sh -c`, `awk`, `find -exec`, `git -c`. */
  readonly interpreter: boolean;
  /** Whether a program that usually only reads is told to write or delete: `find -delete`, `sort -o`. */
  readonly writes: boolean;
  /** The program that runs it, such as `env` in `env ls`; empty if the shell does. */
  readonly via: string;
}

export type RedirectionMode = "read" | "write" | "append" | "read_write";

export interface RedirectionFacts {
  readonly path: string;
  readonly mode: RedirectionMode;
}

export interface AssignmentFacts {
  readonly name: string;
  readonly value: string;
}

/** Facts about a command for policies. Plain JSON of a stable shape; see docs/shell-commands.md. */
export interface CommandFacts {
  /** Whether every program, argument, file and variable is listed below exactly as the command will use it. */
  readonly literal: boolean;
  /** Why it is not literal; empty if it is. */
  readonly reason: string;
  /** In the order in which they are written; for a command that is not literal, those that could be recognized. */
  readonly programs: readonly ProgramFacts[];
  /** Each program's name, once. */
  readonly names: readonly string[];
  /** Each program's name with its first argument, once: `git log`, `npm run`; the name alone without arguments. */
  readonly subcommands: readonly string[];
  /** Files that the shell itself opens. */
  readonly redirections: readonly RedirectionFacts[];
  /** Variables that are set for a program. */
  readonly assignments: readonly AssignmentFacts[];
  /** Whether one of the programs is an interpreter. */
  readonly interpreter: boolean;
  /** Whether one of the programs writes. */
  readonly writes: boolean;
  /** Whether something keeps running with `&`. */
  readonly background: boolean;
  /** Whether later relative paths start in another directory. */
  readonly changes_directory: boolean;
  /** Whether it has non-ASCII characters: then show it escaped as well. */
  readonly non_ascii: boolean;
}

/**
 * Parses a command as a shell would, and describes what it would run.
 * SECURITY: the text is controlled by an attacker. These facts help people and rules; the sandbox is what enforces
 * limits. The facts err on the safe side: whatever is not fully understood is not literal.
 */
export function commandFacts(command: string): CommandFacts {
  if (last?.command !== command) last = { command, facts: Object.freeze(parse(command)) };
  return last.facts;
}

/** Cache, because one call needs the facts several times. */
let last: { readonly command: string; readonly facts: CommandFacts } | undefined;

function parse(command: string): CommandFacts {
  const { reason, programs, redirections, assignments, background, changesDirectory } = readCommand(command);
  return {
    literal: reason === "",
    reason,
    programs,
    names: [...new Set(programs.map(({ name }) => name))],
    subcommands: [...new Set(programs.map(({ name, args }) => (args.length === 0 ? name : `${name} ${args[0]}`)))],
    redirections,
    assignments,
    interpreter: programs.some(({ interpreter }) => interpreter),
    writes: programs.some(({ writes }) => writes),
    background,
    changes_directory: changesDirectory,
    non_ascii: /[^\0-\x7f]/.test(command),
  };
}
