import type { CallDelta } from "./call-delta.ts";
import { fieldOf, jsonOf, listOf, textOf } from "./loose-fields.ts";

/** Chunks of Gemini, which sends each call in one piece and most of them without an id. */
export function readGemini(chunk: unknown): CallDelta[] {
  const [candidate] = listOf(chunk, "candidates");
  return listOf(fieldOf(candidate, "content"), "parts").flatMap((part): CallDelta[] => {
    const call = fieldOf(part, "functionCall");
    if (typeof call !== "object" || call === null) return [];
    const id = textOf(call, "id");
    return [{ id, name: textOf(call, "name"), whole: jsonOf(fieldOf(call, "args") ?? {}), isOther: id === undefined }];
  });
}
