import type { CallDelta } from "./call-delta.ts";
import { readCount, readField, toArgumentsJson, readList, readText } from "./to-arguments-json.ts";
import { toProviderError } from "./provider-error.ts";

/** Reads chunks of OpenAI's chat completions, and of the many compatible servers. */
export function readOpenaiChat(chunk: unknown): CallDelta[] {
  // A server that fails in the middle of a stream sends this in place of a chunk.
  if (readField(chunk, "error") !== undefined && readField(chunk, "choices") === undefined)
    throw toProviderError(chunk);
  const [choice] = readList(chunk, "choices");
  const delta = readField(choice, "delta");
  return readList(delta, "tool_calls").map((call) => {
    const called = readField(call, "function");
    const given = readField(called, "arguments");
    const isText = typeof given === "string" || given === undefined || given === null;
    return {
      index: readCount(call, "index"),
      id: readText(call, "id"),
      name: readText(called, "name"),
      ...(isText ? { text: given ?? undefined } : { whole: toArgumentsJson(given) }),
    };
  });
}
