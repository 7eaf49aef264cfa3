import type { CallDelta } from "./call-delta.ts";
import { countOf, fieldOf, listOf, textOf } from "./loose-fields.ts";
import { providerFault } from "./provider-fault.ts";

/** Events of OpenAI's responses. They are numbered, so a lost order can be put right. */
export function readOpenaiResponses(event: unknown): CallDelta[] {
  const place = {
    index: countOf(event, "output_index"),
    key: textOf(event, "item_id"),
    sequence: countOf(event, "sequence_number"),
  };
  switch (fieldOf(event, "type")) {
    case "response.output_item.added":
      return readItem(fieldOf(event, "item"), place.index, undefined);
    case "response.output_item.done": {
      const item = fieldOf(event, "item");
      return readItem(item, place.index, textOf(item, "arguments"));
    }
    case "response.function_call_arguments.delta":
      return [{ ...place, text: textOf(event, "delta") }];
    case "response.function_call_arguments.done":
      return [{ ...place, name: textOf(event, "name"), whole: textOf(event, "arguments") }];
    case "response.completed":
    case "response.incomplete":
      return listOf(fieldOf(event, "response"), "output").flatMap((item, index) =>
        readItem(item, index, textOf(item, "arguments")),
      );
    case "response.failed":
      throw providerFault(fieldOf(event, "response"));
    case "error":
      throw providerFault(event);
    default:
      return [];
  }
}

function readItem(item: unknown, index: number | undefined, whole: string | undefined): CallDelta[] {
  if (fieldOf(item, "type") !== "function_call") return [];
  return [{ index, key: textOf(item, "id"), id: textOf(item, "call_id"), name: textOf(item, "name"), whole }];
}
