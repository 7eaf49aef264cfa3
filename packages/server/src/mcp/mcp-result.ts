import type { CallToolResult } from "@modelcontextprotocol/server";
import {
  findCode,
  isJsonObject,
  type JsonObject,
  parseJson,
  type ToolDenied,
  type ToolError,
  type ToolResponse,
  type ToolSuccess,
} from "@narthex/contracts";

/** An answer as MCP gives it to a model: the view, or what went wrong and what to do next. */
export function toMcpResult(response: ToolResponse, options: { readonly isStructured: boolean }): CallToolResult {
  const { result } = response;
  switch (result.case) {
    case "success":
      return successResult(result.value, options.isStructured);
    case "denied":
      return errorResult(denialText(result.value));
    case "error":
      return errorResult(errorText(result.value));
    case undefined:
      return errorResult("INTERNAL: the kernel gave no result");
  }
}

function successResult(success: ToolSuccess, isStructured: boolean): CallToolResult {
  const content = [{ type: "text" as const, text: success.view }];
  const structuredContent = structuredOf(success);
  if (structuredContent === undefined) {
    if (!isStructured) return { content };
    // The protocol forbids a result without the structure that was promised.
    const note = "The call succeeded. Its result is too large to be given whole; read it with result_read.";
    return { content: [...content, { type: "text", text: note }], isError: true };
  }
  // A client may show its model the structure instead of the text, so what was cut is not sent whole unasked.
  return isStructured || !success.cut ? { content, structuredContent } : { content };
}

function structuredOf({ resultType, inlineResult }: ToolSuccess): JsonObject | undefined {
  if ((resultType !== "object" && resultType !== "json") || inlineResult.length === 0) return undefined;
  const value = parseJson(inlineResult);
  return isJsonObject(value) ? value : undefined;
}

function errorResult(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

function denialText({ ruleId, rationaleCode, message }: ToolDenied): string {
  return withNext([`Denied by rule ${ruleId} (${rationaleCode}): ${message}`], rationaleCode);
}

function errorText(error: ToolError): string {
  const lines = [`${error.errorCode}: ${error.message}`];
  for (const { field, message } of error.violations) lines.push(`- ${field === "" ? "request" : field}: ${message}`);
  if (error.approvalId !== "") lines.push(`Approval: ${error.approvalId}`);
  if (error.effectsPossible) lines.push("Its effects may have happened.");
  if (error.retryAfterMs > 0n) lines.push(`Retry after ${error.retryAfterMs} ms.`);
  return withNext(lines, error.errorCode);
}

function withNext(lines: readonly string[], code: string): string {
  const next = findCode(code)?.next;
  return (next === undefined ? lines : [...lines, `Next: ${next}`]).join("\n");
}
