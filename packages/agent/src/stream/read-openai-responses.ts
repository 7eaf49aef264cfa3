import type { CallDelta } from "./call-delta.ts";
import { readCount, readField, readList, readText } from "./to-arguments-json.ts";
import { toProviderError } from "./provider-error.ts";

/** Reads events of OpenAI's responses API. They are numbered, so their order can be restored. */
export function readOpenaiResponses(event: unknown): CallDelta[] {
  const place = {
    index: readCount(event, "output_index"),
    key: readText(event, "item_id"),
    sequence: readCount(event, "sequence_number"),
  };
  switch (readField(event, "type")) {
    case "response.output_item.added":
      return readItem(readField(event, "item"), place.index, undefined);
    case "response.output_item.done": {
      const item = readField(event, "item");
      return readItem(item, place.index, readText(item, "arguments"));
    }
    case "response.function_call_arguments.delta":
      return [{ ...place, text: readText(event, "delta") }];
    case "response.function_call_arguments.done":
      return [{ ...place, name: readText(event, "name"), whole: readText(event, "arguments") }];
    case "response.completed":
    case "response.incomplete":
      return readList(readField(event, "response"), "output").flatMap((item, index) =>
        readItem(item, index, readText(item, "arguments")),
      );
    case "response.failed":
      throw toProviderError(readField(event, "response"));
    case "error":
      throw toProviderError(event);
    default:
      return [];
  }
}

function readItem(item: unknown, index: number | undefined, whole: string | undefined): CallDelta[] {
  if (readField(item, "type") !== "function_call") return [];
  return [{ index, key: readText(item, "id"), id: readText(item, "call_id"), name: readText(item, "name"), whole }];
}
