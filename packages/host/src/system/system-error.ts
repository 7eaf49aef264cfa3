import { isKernelError, KernelError } from "@narthex/contracts";

/** `ENOENT` and its like. */
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

/** A path that a person named and that cannot be used, and why; other faults are the machine's. */
export function pathUnusable(what: string, cause: unknown): KernelError {
  const code = systemErrorCode(cause) ?? "";
  const problem = isKernelError(cause) ? undefined : PATH_PROBLEMS.get(code);
  if (problem === undefined) return storeUnavailable(what, cause);
  return new KernelError("PATH_UNUSABLE", `${what}: ${problem} (${code})`, { cause });
}

/** What the machine could not do, for a caller who need not know paths. */
export function storeUnavailable(what: string, cause: unknown): KernelError {
  if (isKernelError(cause)) return cause;
  return new KernelError("STORE_UNAVAILABLE", `${what} (${systemErrorCode(cause) ?? "unknown error"})`, { cause });
}
