import type { SandboxedProgram, ProgramContent } from "@narthex/kernel";

/** Linux gives one argument at most 128 KB. Longer commands than this reach bash as a file. */
const MAX_ARGUMENT_BYTES = 64 * 1024;
const COMMAND_PATH = "/opt/.narthex-command";

export const BASH = ["/bin/bash", "--norc", "--noprofile"] as const;

/** Whether a command is too long to be one of a program's arguments. */
export function isLongCommand(command: string): boolean {
  return Buffer.byteLength(command) > MAX_ARGUMENT_BYTES;
}

/**
 * Bash code that runs a command which lies in a file, as `-c` runs one that is an argument: the same `$0`, no parameters, its
 * standard input free, and neither a variable nor an open file more.
 */
const EVALUATE_FILE = `eval "$(<${COMMAND_PATH})"`;

/** A fresh bash that runs a command in a sandbox, however long the command is. */
export function bashCommand(command: string): Pick<SandboxedProgram, "command" | "contents"> {
  if (!isLongCommand(command)) return { command: [...BASH, "-c", command] };
  return { command: [...BASH, "-c", EVALUATE_FILE], contents: contentsOf(command) };
}

/** The same, started in another directory than the sandbox begins in. */
export function bashCommandIn(directory: string, command: string): Pick<SandboxedProgram, "command" | "contents"> {
  const script = `cd -- "$0" && exec ${BASH.join(" ")} -c "$1"`;
  const isLong = isLongCommand(command);
  const code = isLong ? EVALUATE_FILE : command;
  return {
    command: [...BASH, "-c", script, directory, code],
    ...(isLong && { contents: contentsOf(command) }),
  };
}

function contentsOf(command: string): readonly ProgramContent[] {
  return [{ target: COMMAND_PATH, bytes: Buffer.from(command), isExecutable: false }];
}
