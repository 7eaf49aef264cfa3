import { readCommand } from "./read-command.ts";

/** One program that a command would run. */
export interface ProgramFacts {
  /** As it is written, without quotes. If it is not literal: its source. */
  readonly name: string;
  readonly args: readonly string[];
  /** The name and every argument are what the program will get. */
  readonly literal: boolean;
  /** Takes instructions from its arguments or its standard input: `sh -c`, `awk`, `find -exec`, `git -c`. */
  readonly interpreter: boolean;
  /** A program that mostly reads was told to write or delete: `find -delete`, `sort -o`. */
  readonly writes: boolean;
  /** The program that runs it, as `env` in `env ls`; empty if the shell does. */
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

/** What a policy may know about a command. Plain JSON of a stable shape; see docs/shell-commands.md. */
export interface CommandFacts {
  /** Every program, argument, file and variable is below, exactly as the command will use it. */
  readonly literal: boolean;
  /** Why it is not literal; empty if it is. */
  readonly reason: string;
  /** In the order in which they are written; of a command that is not literal, those that could be made out. */
  readonly programs: readonly ProgramFacts[];
  /** Each program's name, once. */
  readonly names: readonly string[];
  /** Each program's name with its first argument, once: `git log`, `npm run`; the name alone if there is none. */
  readonly subcommands: readonly string[];
  /** Files that the shell itself opens. */
  readonly redirections: readonly RedirectionFacts[];
  /** Variables that are set for a program. */
  readonly assignments: readonly AssignmentFacts[];
  /** One of the programs is. */
  readonly interpreter: boolean;
  /** One of the programs does. */
  readonly writes: boolean;
  /** Something is left running with `&`. */
  readonly background: boolean;
  /** A later relative path starts elsewhere. */
  readonly changes_directory: boolean;
  /** Something in it is not ASCII: show it escaped as well. */
  readonly non_ascii: boolean;
}

/**
 * Parses a command as a shell would and says what it would run.
 * SECURITY: the text is an attacker's. These facts help people and rules; the sandbox is what holds. They err to one side:
 * whatever is not understood completely is not literal.
 */
export function commandFacts(command: string): CommandFacts {
  if (last?.command !== command) last = { command, facts: Object.freeze(parse(command)) };
  return last.facts;
}

/** A call asks for them more than once. */
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
