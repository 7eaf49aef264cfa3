import { isJsonObject, type JsonObject, type JsonValue, KernelError } from "@narthex/contracts";
import { ownField } from "@narthex/kernel";
import { toDisplayText } from "./display-text.ts";

const MAX_MESSAGE = 2000;

/**
 * Converts the result of a tool call: the structured content if there is any, else all text joined, else the content as
 * it is. Throws EXECUTION_FAILED with the server's message for an error of the tool.
 */
export function readResult(result: JsonObject): JsonValue {
  const content = ownField(result, "content") ?? [];
  if (!Array.isArray(content)) throw new KernelError("INVALID_OUTPUT", "the MCP server's content is no list");
  const texts = content.map(textOf);
  if (ownField(result, "isError") === true) {
    const said = toDisplayText(texts.filter((text) => text !== undefined).join("\n"), MAX_MESSAGE);
    throw new KernelError(
      "EXECUTION_FAILED",
      said === "" ? "the MCP server says only that it failed" : `the MCP server says: ${said}`,
    );
  }
  const structured = ownField(result, "structuredContent");
  if (structured !== undefined && structured !== null) return structured;
  return texts.every((text) => text !== undefined) ? { text: texts.join("\n") } : { content };
}

function textOf(block: JsonValue): string | undefined {
  if (!isJsonObject(block) || ownField(block, "type") !== "text") return undefined;
  const text = ownField(block, "text");
  return typeof text === "string" ? text : undefined;
}
