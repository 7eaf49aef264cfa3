import type { CallDelta } from "./call-delta.ts";
import { countOf, fieldOf, jsonOf, listOf, textOf } from "./loose-fields.ts";
import { providerFault } from "./provider-fault.ts";

/** Chunks of OpenAI's chat completions, and of the many servers that speak like them. */
export function readOpenaiChat(chunk: unknown): CallDelta[] {
  // A server that fails in the middle sends this in place of a chunk.
  if (fieldOf(chunk, "error") !== undefined && fieldOf(chunk, "choices") === undefined) throw providerFault(chunk);
  const [choice] = listOf(chunk, "choices");
  const delta = fieldOf(choice, "delta");
  return listOf(delta, "tool_calls").map((call) => {
    const called = fieldOf(call, "function");
    const given = fieldOf(called, "arguments");
    const isText = typeof given === "string" || given === undefined || given === null;
    return {
      index: countOf(call, "index"),
      id: textOf(call, "id"),
      name: textOf(called, "name"),
      ...(isText ? { text: given ?? undefined } : { whole: jsonOf(given) }),
    };
  });
}
