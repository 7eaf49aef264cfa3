import { exitCodeOf } from "./exit-code.ts";

export interface CommandErrorOptions {
  /** What the user does next; by default the code's own advice. */
  readonly next?: string;
  readonly cause?: unknown;
}

/** Why a command failed. The message is one line and contains no secret. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly code: string;
  readonly exitCode: number;
  readonly next: string | undefined;

  constructor(code: string, message: string, options: CommandErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.exitCode = exitCodeOf(code);
    this.next = options.next;
  }
}

/** The command line is invalid: exit code 2. */
export function usageError(message: string, next?: string, options: { readonly cause?: unknown } = {}): CommandError {
  return new CommandError("USAGE", message, next === undefined ? options : { ...options, next });
}
