import type { FailedReply, FaultCode, FaultReason } from "./messages.ts";

export interface FaultFacts {
  readonly unchanged?: boolean;
  readonly errno?: string;
  readonly count?: number;
  readonly lines?: readonly number[];
}

/** Why an operation is not performed. */
export class FileFault extends Error {
  override readonly name: string = "FileFault";
  readonly code: FaultCode;
  readonly reason: FaultReason;
  readonly facts: FaultFacts;

  constructor(code: FaultCode, reason: FaultReason = "code", facts: FaultFacts = {}) {
    super(`${code} ${reason}`);
    this.code = code;
    this.reason = reason;
    this.facts = facts;
  }
}

/** Converts any thrown value to a message for the kernel. */
export function describeFault(thrown: unknown): FailedReply {
  const fault = thrown instanceof FileFault ? thrown : systemFault(thrown);
  return { type: "failed", code: fault.code, reason: fault.reason, ...fault.facts };
}

/**
 * Runs the part of a commit up to its change, which must be its last system call: if it throws, nothing was changed.
 * Errors outside such a part may occur after a change.
 */
export function markUnchangedOnThrow<T>(act: () => T): T {
  try {
    return act();
  } catch (thrown) {
    throw asUnchanged(thrown);
  }
}

/** Returns the same error, marked as having changed nothing. */
export function asUnchanged(thrown: unknown): FileFault {
  const { code, reason, facts } = thrown instanceof FileFault ? thrown : systemFault(thrown);
  return new FileFault(code, reason, { ...facts, unchanged: true });
}

export function errnoOf(thrown: unknown): string {
  const code: unknown = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return typeof code === "string" ? code : "EUNKNOWN";
}

function systemFault(thrown: unknown): FileFault {
  const errno = errnoOf(thrown);
  const code = CODES.get(errno);
  return code === undefined
    ? new FileFault("EXECUTION_FAILED", "system", { errno })
    : new FileFault(code, "system", { errno });
}

const CODES: ReadonlyMap<string, FaultCode> = new Map<string, FaultCode>([
  ["ENOENT", "FILE_NOT_FOUND"],
  ["EEXIST", "FILE_EXISTS"],
  ["ENOTDIR", "NOT_A_DIRECTORY"],
  ["EISDIR", "NOT_A_FILE"],
  ["ENXIO", "NOT_A_FILE"],
  ["ENODEV", "NOT_A_FILE"],
  ["ENOTEMPTY", "DIRECTORY_NOT_EMPTY"],
  ["ENAMETOOLONG", "INVALID_INPUT"],
  ["ENOSPC", "RESOURCE_EXCEEDED"],
  ["EDQUOT", "RESOURCE_EXCEEDED"],
  ["EFBIG", "RESOURCE_EXCEEDED"],
  ["EMFILE", "RESOURCE_EXCEEDED"],
  ["ENFILE", "RESOURCE_EXCEEDED"],
  ["ENOMEM", "RESOURCE_EXCEEDED"],
  ["EMLINK", "RESOURCE_EXCEEDED"],
]);
