import type { JsonValue } from "@narthex/contracts";
import type { Tool, ToolOutput } from "../tool/tool.ts";
import type { ViewPart } from "./view-part.ts";

/** A JSON result in the plain text of its tool; undefined where the tool has none for it. */
export function plainText({ textView }: Pick<Tool, "textView">, output: ToolOutput): readonly ViewPart[] | undefined {
  if (textView === undefined || !isJson(output)) return undefined;
  try {
    return textView(output);
  } catch {
    // A tool that cannot describe its result does not fail for it: the call has had its effects.
    return undefined;
  }
}

function isJson(output: ToolOutput): output is JsonValue {
  return !(
    output instanceof Uint8Array ||
    (typeof output === "object" && output !== null && Symbol.asyncIterator in output)
  );
}
