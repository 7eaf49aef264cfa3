import type { CallDelta } from "./call-delta.ts";
import { countOf, fieldOf, jsonOf, textOf } from "./loose-fields.ts";
import { providerFault } from "./provider-fault.ts";

/** Events of Anthropic's messages. */
export function readAnthropic(event: unknown): CallDelta[] {
  const index = countOf(event, "index");
  switch (fieldOf(event, "type")) {
    case "content_block_start":
      return readBlock(fieldOf(event, "content_block"), index);
    case "content_block_delta": {
      const delta = fieldOf(event, "delta");
      return fieldOf(delta, "type") === "input_json_delta" ? [{ index, text: textOf(delta, "partial_json") }] : [];
    }
    case "error":
      throw providerFault(event);
    default:
      return [];
  }
}

function readBlock(block: unknown, index: number | undefined): CallDelta[] {
  // Pieces of arguments are sent for tools that the provider runs itself, too.
  if (fieldOf(block, "type") !== "tool_use") return index === undefined ? [] : [{ index, isForeign: true }];
  const input = fieldOf(block, "input");
  // An empty object stands for what is yet to come.
  const isGiven = typeof input === "object" && input !== null && Object.keys(input).length > 0;
  return [{ index, id: textOf(block, "id"), name: textOf(block, "name"), ...(isGiven && { whole: jsonOf(input) }) }];
}
