import { isKernelError, type Violation } from "@narthex/contracts";
import { describeFault } from "../../result/describe-fault.ts";
import { redactText } from "../../result/redact.ts";
import type { Redactor } from "../../tool/tool.ts";
import { boundViolations, cutText } from "../bound-error.ts";
import { Failed } from "../ending.ts";
import type { GrantedCall } from "../grant/grant.ts";
import type { KernelParts } from "../../kernel-parts.ts";

/** SECURITY: what only the kernel can know of a call. A tool that said it would have its callers wait, or call again. */
const ONLY_OF_THE_KERNEL: ReadonlySet<string> = new Set([
  "DUPLICATE_REQUEST_ID",
  "DEDUPE_CONFLICT",
  "OUTCOME_UNKNOWN",
  "APPROVAL_PENDING",
  "TOOL_NOT_FOUND",
]);

/** A tool's own coded error stands; anything else says only that it failed. Its secrets are hidden in either. */
export function toolFailed(call: GrantedCall, kernel: KernelParts, fault: unknown): Failed {
  const redactors = call.registered.tool.redactors ?? [];
  const text = describeFault(fault, redactors);
  kernel.log("warn", "a tool failed", { tool: call.registered.id, request: call.requestId, cause: text });
  const message = `\`${call.registered.id}\` failed: ${text.slice(0, 500)}`;
  if (!isKernelError(fault) || ONLY_OF_THE_KERNEL.has(fault.code)) return new Failed("EXECUTION_FAILED", message);
  const coded = Failed.from(fault, "EXECUTION_FAILED", message);
  return new Failed(coded.code, cutText(redactText(coded.message, redactors)), {
    violations: redactViolations(coded.violations, redactors),
    retryable: coded.retryable,
    retryAfterMs: coded.retryAfterMs,
  });
}

function redactViolations(violations: readonly Violation[], redactors: readonly Redactor[]): readonly Violation[] {
  const hidden = violations.map(({ field, rule, message }) => ({
    field: redactText(asText(field), redactors),
    rule: asText(rule),
    message: redactText(asText(message), redactors),
  }));
  return boundViolations(hidden);
}

/** A tool may throw anything that looks like a coded error. */
function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
