import { isKernelError, KernelError } from "@narthex/contracts";

/** `ENOENT` and its like. */
export function systemErrorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** What the machine could not do, for a caller who need not know paths. */
export function storeUnavailable(what: string, cause: unknown): KernelError {
  if (isKernelError(cause)) return cause;
  return new KernelError("STORE_UNAVAILABLE", `${what} (${systemErrorCode(cause) ?? "unknown error"})`, { cause });
}
