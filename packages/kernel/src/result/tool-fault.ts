import { type ErrorCode, isErrorCode, isKernelError, type Violation } from "@narthex/contracts";
import type { RegisteredTool } from "../registry/registry.ts";
import type { Redactor } from "../tool/tool.ts";
import { boundViolations, cutText } from "./bound-error.ts";
import { describeFault } from "./describe-fault.ts";
import { redactText } from "./redact.ts";

/** The error that a caller gets when a tool throws. */
export interface ToolFault {
  readonly code: ErrorCode;
  readonly message: string;
  readonly violations: readonly Violation[];
  readonly retryAfterMs: number | undefined;
}

/** SECURITY: codes that only the kernel may use. A tool that claimed them could make its callers wait or call again. */
const ONLY_OF_THE_KERNEL: ReadonlySet<string> = new Set([
  "DUPLICATE_REQUEST_ID",
  "DEDUPE_CONFLICT",
  "OUTCOME_UNKNOWN",
  "APPROVAL_PENDING",
  "TOOL_NOT_FOUND",
]);
const MAX_TOLD = 500;

/**
 * Keeps a tool's own error code; any other thrown value becomes EXECUTION_FAILED. The tool's secrets are hidden in
 * both.
 */
export function explainToolFault(
  { id, tool }: Pick<RegisteredTool, "id" | "tool">,
  fault: unknown,
  redactors: readonly Redactor[] = tool.redactors ?? [],
): ToolFault {
  if (!isKernelError(fault) || !isErrorCode(fault.code) || isOnlyOfKernel(fault.code, tool)) {
    const message = `\`${id}\` failed: ${describeFault(fault, redactors).slice(0, MAX_TOLD)}`;
    // Tool messages may be cut between surrogates, and a lone surrogate has no encoding.
    return { code: "EXECUTION_FAILED", message: message.toWellFormed(), violations: [], retryAfterMs: undefined };
  }
  return {
    code: fault.code,
    message: cutText(redactText(asText(fault.message).toWellFormed(), redactors)),
    violations: redactViolations(Array.isArray(fault.violations) ? fault.violations : [], redactors),
    retryAfterMs: fault.retryAfterMs,
  };
}

/** SECURITY: PROTECTION_FAILED stops programs from running in a workspace, so code of an embedder cannot claim it. */
function isOnlyOfKernel(code: ErrorCode, { source }: RegisteredTool["tool"]): boolean {
  return ONLY_OF_THE_KERNEL.has(code) || (code === "PROTECTION_FAILED" && source === "embedder");
}

function redactViolations(violations: readonly Violation[], redactors: readonly Redactor[]): readonly Violation[] {
  const hidden = violations.map(({ field, rule, message }) => ({
    field: redactText(asText(field), redactors),
    rule: asText(rule),
    message: redactText(asText(message), redactors),
  }));
  return boundViolations(hidden);
}

/** A tool may throw any value that looks like a coded error. */
function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
