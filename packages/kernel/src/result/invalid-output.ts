import type { Violation } from "@narthex/contracts";
import { boundViolations, cutText } from "./bound-error.ts";

/** Error message and violations for output that does not match the tool's declaration. */
export function explainInvalidOutput(
  toolId: string,
  violations: readonly Violation[],
): { readonly message: string; readonly violations: readonly Violation[] } {
  const kept = boundViolations(violations);
  const shown = kept.slice(0, 5).map((violation) => violation.message);
  return { message: cutText(`\`${toolId}\` returned what it did not declare: ${shown.join("; ")}`), violations: kept };
}
