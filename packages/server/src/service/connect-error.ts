import {
  type Code as KernelCode,
  create,
  findCode,
  isKernelError,
  KernelError,
  type ToolError,
  ToolErrorSchema,
} from "@narthex/contracts";
import { Code, ConnectError } from "@connectrpc/connect";

/** The only mapping from the kernel's codes to those of gRPC and Connect. */
const CONNECT_CODES: Readonly<Record<KernelCode, Code>> = {
  INVALID_REQUEST: Code.InvalidArgument,
  INVALID_INPUT: Code.InvalidArgument,
  INVALID_DECLARATION: Code.InvalidArgument,
  CONFIG_INVALID: Code.InvalidArgument,
  POLICY_INVALID: Code.InvalidArgument,
  LEASE_INVALID: Code.InvalidArgument,
  WORKSPACE_REFUSED: Code.InvalidArgument,
  PATH_ESCAPE: Code.InvalidArgument,
  NOT_A_FILE: Code.InvalidArgument,
  NOT_A_DIRECTORY: Code.InvalidArgument,
  NOT_TEXT: Code.InvalidArgument,
  TOOL_NOT_FOUND: Code.NotFound,
  CONTENT_NOT_FOUND: Code.NotFound,
  FILE_NOT_FOUND: Code.NotFound,
  INTENT_NOT_FOUND: Code.NotFound,
  LEASE_NOT_FOUND: Code.NotFound,
  NOTHING_TO_UNDO: Code.NotFound,
  UNDO_CONFLICT: Code.FailedPrecondition,
  CONTENT_IN_USE: Code.FailedPrecondition,
  BACKUP_INVALID: Code.DataLoss,
  RECORD_NOT_FOUND: Code.NotFound,
  APPROVAL_NOT_FOUND: Code.NotFound,
  CHECKPOINT_NOT_FOUND: Code.NotFound,
  RECORD_NOT_SIGNED: Code.FailedPrecondition,
  LOG_KEY_UNUSABLE: Code.FailedPrecondition,
  LOG_CONTRADICTS: Code.DataLoss,
  LEDGER_ROLLED_BACK: Code.DataLoss,
  NO_MATCH: Code.NotFound,
  ALREADY_REGISTERED: Code.AlreadyExists,
  FILE_EXISTS: Code.AlreadyExists,
  ARTIFACT_EXISTS: Code.AlreadyExists,
  DUPLICATE_REQUEST_ID: Code.AlreadyExists,
  DEDUPE_CONFLICT: Code.AlreadyExists,
  TOKEN_INVALID: Code.Unauthenticated,
  SESSION_UNKNOWN: Code.NotFound,
  SESSION_CLOSED: Code.FailedPrecondition,
  SESSION_EXPIRED: Code.FailedPrecondition,
  SESSION_QUARANTINED: Code.PermissionDenied,
  LEASE_SCOPE: Code.PermissionDenied,
  LEASE_EXPIRED: Code.PermissionDenied,
  LEASE_REVOKED: Code.PermissionDenied,
  TIER_NOT_ALLOWED: Code.PermissionDenied,
  CAPABILITY_MISSING: Code.PermissionDenied,
  POLICY_MISSING: Code.PermissionDenied,
  POLICY_ERROR: Code.PermissionDenied,
  NO_MATCHING_RULE: Code.PermissionDenied,
  APPROVAL_DENIED: Code.PermissionDenied,
  APPROVAL_TIMEOUT: Code.PermissionDenied,
  APPROVAL_UNAVAILABLE: Code.PermissionDenied,
  UNDECLARED_EFFECT: Code.PermissionDenied,
  NETWORK_BLOCKED: Code.PermissionDenied,
  BUDGET_EXCEEDED: Code.ResourceExhausted,
  BOUNDS_EXCEEDED: Code.ResourceExhausted,
  RESOURCE_EXCEEDED: Code.ResourceExhausted,
  RATE_LIMITED: Code.ResourceExhausted,
  TOOL_QUARANTINED: Code.FailedPrecondition,
  OUTCOME_UNKNOWN: Code.FailedPrecondition,
  APPROVAL_PENDING: Code.FailedPrecondition,
  DIRECTORY_NOT_EMPTY: Code.FailedPrecondition,
  MULTIPLE_MATCHES: Code.FailedPrecondition,
  HOME_BUSY: Code.FailedPrecondition,
  HOME_UNSAFE: Code.FailedPrecondition,
  PATH_UNUSABLE: Code.FailedPrecondition,
  SANDBOX_UNAVAILABLE: Code.FailedPrecondition,
  TIMEOUT: Code.DeadlineExceeded,
  CANCELLED: Code.Canceled,
  KILLED: Code.Aborted,
  STORE_UNAVAILABLE: Code.Unavailable,
  KERNEL_UNREACHABLE: Code.Unavailable,
  CONTENT_DAMAGED: Code.DataLoss,
  INVALID_OUTPUT: Code.Internal,
  EXECUTION_FAILED: Code.Internal,
  SANDBOX_ERROR: Code.Internal,
  PROTECTION_FAILED: Code.Internal,
  UPSTREAM_ERROR: Code.Unavailable,
  INTERNAL: Code.Internal,
};

export function toConnectCode(code: KernelCode): Code {
  return CONNECT_CODES[code];
}

/** Converts the same error for a caller that could not be authenticated. */
export function toUnauthenticated(fault: unknown): ConnectError {
  return isKernelError(fault) ? describe(fault, Code.Unauthenticated) : toConnectError(fault);
}

/** Converts an error for a client. Only a KernelError's text is sent: any other text may contain anything. */
export function toConnectError(fault: unknown): ConnectError {
  if (fault instanceof ConnectError) return fault;
  if (!isKernelError(fault)) {
    return new ConnectError("internal error", Code.Internal, undefined, undefined, fault);
  }
  return describe(fault, toConnectCode(fault.code));
}

function describe(fault: KernelError, code: Code): ConnectError {
  const detail = create(ToolErrorSchema, {
    errorCode: fault.code,
    message: fault.message,
    retryable: fault.retryable,
    retryAfterMs: BigInt(fault.retryAfterMs),
    violations: fault.violations.map(({ field, rule, message }) => ({ field, rule, message })),
  });
  const details = [{ desc: ToolErrorSchema, value: detail }];
  return new ConnectError(fault.message, code, undefined, details, fault);
}

/** Converts an error back in a client: to the kernel's own code, if the server sent one. */
export function toKernelError(fault: unknown): KernelError {
  if (isKernelError(fault)) return fault;
  const error = ConnectError.from(fault);
  const detail: ToolError | undefined = error.findDetails(ToolErrorSchema)[0];
  if (detail !== undefined && isKernelCode(detail.errorCode)) {
    const { violations, retryAfterMs } = detail;
    return new KernelError(detail.errorCode, detail.message, {
      cause: error,
      violations,
      retryAfterMs: Number(retryAfterMs),
    });
  }
  const code = PROTOCOL_CODES.get(error.code) ?? "INTERNAL";
  return new KernelError(code, error.rawMessage || "the kernel gave no reason", { cause: error });
}

/** For errors of the protocol itself. */
const PROTOCOL_CODES: ReadonlyMap<Code, KernelCode> = new Map<Code, KernelCode>([
  [Code.Unavailable, "KERNEL_UNREACHABLE"],
  [Code.Unauthenticated, "TOKEN_INVALID"],
  [Code.PermissionDenied, "TOKEN_INVALID"],
  [Code.InvalidArgument, "INVALID_REQUEST"],
  [Code.DeadlineExceeded, "TIMEOUT"],
  [Code.Canceled, "CANCELLED"],
  [Code.ResourceExhausted, "RESOURCE_EXCEEDED"],
]);

function isKernelCode(code: string): code is KernelCode {
  return findCode(code) !== undefined;
}
