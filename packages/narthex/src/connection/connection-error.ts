import { CommandError } from "../terminal/command-error.ts";

/** The kernel does not answer, or not in a way that makes sense. */
export function unreachable(socketPath: string, reason: unknown): Error {
  if (isPermissionDenied(reason)) {
    return new CommandError(
      "PATH_UNUSABLE",
      `the kernel's socket \`${socketPath}\` cannot be opened: permission denied`,
      {
        cause: reason,
        next: "run the command as the user who owns the kernel's home, or name a home of your own with `--data DIR`",
      },
    );
  }
  if (isUnreachable(reason)) return reason;
  const text = reason instanceof Error ? reason.message : String(reason);
  const options = reason instanceof Error ? { cause: reason } : {};
  return new CommandError("KERNEL_UNREACHABLE", `no answer at \`${socketPath}\`: ${text}`, options);
}

/** No process listens there, as opposed to one that answers badly. */
export function isNotListening(error: unknown): boolean {
  const code = systemCode(error);
  // A path that is too long for a socket's address has none.
  return code === "ENOENT" || code === "ECONNREFUSED" || code === "ENOTDIR" || code === "EINVAL";
}

/** The home, or its socket, is another user's. */
function isPermissionDenied(error: unknown): boolean {
  const code = systemCode(error);
  return code === "EACCES" || code === "EPERM";
}

function systemCode(error: unknown): unknown {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error && "code" in cause ? cause.code : undefined;
}

/** No answer came, whatever the reason: what was asked may have been done. */
export function isUnreachable(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === "KERNEL_UNREACHABLE";
}
