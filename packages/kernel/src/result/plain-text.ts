import type { JsonValue } from "@narthex/contracts";
import type { Tool, ToolOutput } from "../tool/tool.ts";
import type { ViewPart } from "./view-part.ts";

/** Formats a JSON result as its tool's plain text; undefined if the tool does not define one for it. */
export function plainText({ textView }: Pick<Tool, "textView">, output: ToolOutput): readonly ViewPart[] | undefined {
  if (textView === undefined || !isJson(output)) return undefined;
  try {
    return textView(output);
  } catch {
    // A failing `textView` does not fail the call, because the call has already had its effects.
    return undefined;
  }
}

function isJson(output: ToolOutput): output is JsonValue {
  return !(
    output instanceof Uint8Array ||
    (typeof output === "object" && output !== null && Symbol.asyncIterator in output)
  );
}
