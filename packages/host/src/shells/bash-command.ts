import type { SandboxedProgram, ProgramContent } from "@narthex/kernel";

/** Linux limits one argument to 128 KB. Longer commands are passed to bash as a file. */
const MAX_ARGUMENT_BYTES = 64 * 1024;
const COMMAND_PATH = "/opt/.narthex-command";

export const BASH = ["/bin/bash", "--norc", "--noprofile"] as const;

/** Whether a command is too long to be passed as an argument. */
export function isLongCommand(command: string): boolean {
  return Buffer.byteLength(command) > MAX_ARGUMENT_BYTES;
}

/**
 * Bash code that runs a command from a file exactly as `-c` runs an argument: the same `$0`, no parameters, free
 * standard input, no additional variable or open file.
 */
const EVALUATE_FILE = `eval "$(<${COMMAND_PATH})"`;

/** Starts a new bash that runs a command of any length in a sandbox. */
export function bashCommand(command: string): Pick<SandboxedProgram, "command" | "contents"> {
  if (!isLongCommand(command)) return { command: [...BASH, "-c", command] };
  return { command: [...BASH, "-c", EVALUATE_FILE], contents: contentsOf(command) };
}

/** As `bashCommand`, started in another directory than the sandbox's working directory. */
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
