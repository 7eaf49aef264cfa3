import { CommandError } from "../terminal/command-error.ts";

/** The kernel does not answer, or not in a way that makes sense. */
export function unreachable(socketPath: string, reason: unknown): CommandError {
  const text = reason instanceof Error ? reason.message : String(reason);
  const options = reason instanceof Error ? { cause: reason } : {};
  return new CommandError("KERNEL_UNREACHABLE", `no answer at \`${socketPath}\`: ${text}`, options);
}

/** Nobody listens there, as opposed to somebody who answers badly. */
export function isNobodyThere(error: unknown): boolean {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error) || !("code" in cause)) return false;
  return cause.code === "ENOENT" || cause.code === "ECONNREFUSED";
}

/** No answer came, whatever the reason: what was asked may have been done. */
export function isUnreachable(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === "KERNEL_UNREACHABLE";
}
