import { CommandError } from "../terminal/command-error.ts";

/** The kernel does not respond, or sends an invalid response. */
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

/** Whether no process listens at the socket, as opposed to one that sends an invalid response. */
export function isNotListening(error: unknown): boolean {
  const code = systemCode(error);
  // A socket path that is too long cannot have a listener.
  return code === "ENOENT" || code === "ECONNREFUSED" || code === "ENOTDIR" || code === "EINVAL";
}

/** Whether the home or its socket belongs to another user. */
function isPermissionDenied(error: unknown): boolean {
  const code = systemCode(error);
  return code === "EACCES" || code === "EPERM";
}

function systemCode(error: unknown): unknown {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error && "code" in cause ? cause.code : undefined;
}

/** Whether no response came, for whatever reason: the request may have been executed. */
export function isUnreachable(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === "KERNEL_UNREACHABLE";
}
