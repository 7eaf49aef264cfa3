import { isKernelError } from "@narthex/contracts";
import type { KernelParts } from "../../kernel-parts.ts";
import { describeFault } from "../../result/describe-fault.ts";
import { explainToolFault } from "../../result/tool-fault.ts";
import { Failed } from "../ending.ts";
import type { GrantedCall } from "../grant/grant.ts";
import { redactorsForCaller } from "../call-redactors.ts";

/** Converts an error thrown by a tool to the end of its call. */
export function toToolFailure(call: GrantedCall, kernel: KernelParts, fault: unknown): Failed {
  const { registered, requestId, trail } = call;
  if (isKernelError(fault) && fault.changedNothing) trail.cancelToolEffect?.();
  const cause = describeFault(fault, registered.tool.redactors);
  const { code, message, violations, retryAfterMs } = explainToolFault(
    registered,
    fault,
    redactorsForCaller(call, kernel),
  );
  // If the caller sees the whole cause, the log line is informational; if the caller sees less, it is a warning.
  const level = message.includes(cause) ? "info" : "warn";
  kernel.logger(level, "a tool failed", { tool: registered.id, request: requestId, cause });
  return new Failed(code, message, { violations, ...(retryAfterMs !== undefined && { retryAfterMs }) });
}
