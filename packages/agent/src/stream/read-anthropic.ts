import type { CallDelta } from "./call-delta.ts";
import { readCount, readField, toArgumentsJson, readText } from "./to-arguments-json.ts";
import { toProviderError } from "./provider-error.ts";

/** Reads events of Anthropic's messages API. */
export function readAnthropic(event: unknown): CallDelta[] {
  const index = readCount(event, "index");
  switch (readField(event, "type")) {
    case "content_block_start":
      return readBlock(readField(event, "content_block"), index);
    case "content_block_delta": {
      const delta = readField(event, "delta");
      return readField(delta, "type") === "input_json_delta" ? [{ index, text: readText(delta, "partial_json") }] : [];
    }
    case "error":
      throw toProviderError(event);
    default:
      return [];
  }
}

function readBlock(block: unknown, index: number | undefined): CallDelta[] {
  // Tools that the provider runs itself also stream their arguments.
  if (readField(block, "type") !== "tool_use") return index === undefined ? [] : [{ index, isForeign: true }];
  const input = readField(block, "input");
  // An empty object is a placeholder for arguments that follow.
  const isGiven = typeof input === "object" && input !== null && Object.keys(input).length > 0;
  return [
    {
      index,
      id: readText(block, "id"),
      name: readText(block, "name"),
      ...(isGiven && { whole: toArgumentsJson(input) }),
    },
  ];
}
