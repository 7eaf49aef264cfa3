import { isKernelError } from "@narthex/contracts";
import type { KernelParts } from "../../kernel-parts.ts";
import { describeFault } from "../../result/describe-fault.ts";
import { explainToolFault } from "../../result/tool-fault.ts";
import { Failed } from "../ending.ts";
import type { GrantedCall } from "../grant/grant.ts";
import { hiddenFromCaller } from "../hidden-secrets.ts";

/** What a tool threw, as the end of its call. */
export function toolFailed(call: GrantedCall, kernel: KernelParts, fault: unknown): Failed {
  const { registered, requestId, trail } = call;
  if (isKernelError(fault) && fault.changedNothing) trail.toolEffect?.();
  const cause = describeFault(fault, registered.tool.redactors);
  const { code, message, violations, retryAfterMs } = explainToolFault(
    registered,
    fault,
    hiddenFromCaller(call, kernel),
  );
  // Where the caller is told as much, the log only keeps count; it warns where the caller is told less.
  const level = message.includes(cause) ? "info" : "warn";
  kernel.log(level, "a tool failed", { tool: registered.id, request: requestId, cause });
  return new Failed(code, message, { violations, ...(retryAfterMs !== undefined && { retryAfterMs }) });
}
