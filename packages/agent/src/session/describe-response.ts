import { findCode, type ToolDenied, type ToolError, type ToolResponse } from "@narthex/contracts";

/** A response of the kernel, as described to a model. */
export interface DescribedResponse {
  readonly text: string;
  readonly isError: boolean;
}

/**
 * The view of a result; or what went wrong, why, and what to do next. `allowed` describes what would have been allowed
 * instead of a denied call.
 */
export function describeResponse(response: ToolResponse, allowed: readonly string[] = []): DescribedResponse {
  const { result } = response;
  switch (result.case) {
    case "success":
      return { text: result.value.view, isError: false };
    case "denied":
      return { text: denialText(result.value, allowed), isError: true };
    case "error":
      return { text: errorText(result.value), isError: true };
    case undefined:
      return { text: "INTERNAL: the kernel gave no result", isError: true };
  }
}

function denialText({ ruleId, rationaleCode, message }: ToolDenied, allowed: readonly string[]): string {
  // A refusal by the kernel itself has no policy rule.
  const by = ruleId === "" || ruleId.startsWith("kernel:") ? "" : ` by rule ${ruleId}`;
  return withNext([`Denied${by} (${rationaleCode}): ${message}`, ...allowed], rationaleCode);
}

function errorText(error: ToolError): string {
  const lines = [`${error.errorCode}: ${error.message}`];
  for (const { field, message } of error.violations) lines.push(`- ${field === "" ? "request" : field}: ${message}`);
  if (error.approvalId !== "") lines.push(`Approval: ${error.approvalId}`);
  if (error.effectsPossible) lines.push("Its effects may have happened.");
  if (error.retryAfterMs > 0n) lines.push(`Retry after ${error.retryAfterMs} ms.`);
  const text = withNext(lines, error.errorCode);
  return error.view === "" ? text : `${text}\nIt had printed:\n${error.view}`;
}

function withNext(lines: readonly string[], code: string): string {
  const next = findCode(code)?.next;
  return (next === undefined ? lines : [...lines, `Next: ${next}`]).join("\n");
}
