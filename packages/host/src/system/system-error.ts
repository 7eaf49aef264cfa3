import { isKernelError, KernelError } from "@narthex/contracts";

/** Returns the code of a system error, such as `ENOENT`. */
export function systemErrorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

const PATH_PROBLEMS: ReadonlyMap<string, string> = new Map([
  ["EACCES", "permission denied"],
  ["EPERM", "permission denied"],
  ["EROFS", "the file system is read-only"],
  ["ENOENT", "a directory of the path does not exist and cannot be made"],
  ["ENOTDIR", "a part of the path is not a directory"],
  ["ENAMETOOLONG", "the path is too long"],
  ["ELOOP", "the path has too many links"],
]);

/** Error for a path that a person named and that cannot be used; faults of the machine become STORE_UNAVAILABLE. */
export function pathUnusable(what: string, cause: unknown): KernelError {
  const code = systemErrorCode(cause) ?? "";
  const problem = isKernelError(cause) ? undefined : PATH_PROBLEMS.get(code);
  if (problem === undefined) return storeUnavailable(what, cause);
  return new KernelError("PATH_UNUSABLE", `${what}: ${problem} (${code})`, { cause });
}

/** Error for a failure of the machine, without paths that the caller does not need. */
export function storeUnavailable(what: string, cause: unknown): KernelError {
  if (isKernelError(cause)) return cause;
  return new KernelError("STORE_UNAVAILABLE", `${what} (${systemErrorCode(cause) ?? "unknown error"})`, { cause });
}
