import type { CallDelta } from "./call-delta.ts";
import { readField, toArgumentsJson, readList, readText } from "./to-arguments-json.ts";

/** Reads chunks of Gemini, which sends each call in one piece and most calls without an id. */
export function readGemini(chunk: unknown): CallDelta[] {
  const [candidate] = readList(chunk, "candidates");
  return readList(readField(candidate, "content"), "parts").flatMap((part): CallDelta[] => {
    const call = readField(part, "functionCall");
    if (typeof call !== "object" || call === null) return [];
    const id = readText(call, "id");
    return [
      {
        id,
        name: readText(call, "name"),
        whole: toArgumentsJson(readField(call, "args") ?? {}),
        isOther: id === undefined,
      },
    ];
  });
}
