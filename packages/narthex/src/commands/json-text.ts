import type { JsonValue } from "@narthex/contracts";

/** The value of JSON text that came from a kernel; text that is none stays text. */
export function readJsonText(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}
