import { isKernelError, type Violation } from "@narthex/contracts";
import { checkOptions, type OptionKinds } from "@narthex/kernel";
import type { SessionCallOptions } from "./agent-session.ts";

const KINDS: OptionKinds<SessionCallOptions> = {
  version: "text?",
  requestId: "text?",
  dedupeKey: "text?",
  signal: "signal?",
  timeoutMs: "any?",
  onChunk: "function?",
  traceParent: "text?",
};

/**
 * Validates the options of one call; undefined if they are valid.
 *
 * SECURITY: a misspelt dedupe key or request id would be ignored, and a retry would do everything again.
 */
export function findCallOptionFaults(options: SessionCallOptions): readonly Violation[] | undefined {
  try {
    checkOptions(options, KINDS, "a call");
    return undefined;
  } catch (fault) {
    if (!isKernelError(fault)) throw fault;
    return fault.violations.length > 0
      ? fault.violations
      : [{ field: "options", rule: "format", message: fault.message }];
  }
}
