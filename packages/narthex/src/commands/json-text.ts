import type { JsonValue } from "@narthex/contracts";

/** The value of JSON text that came from a kernel; text that is none stays text. */
export function readJsonText(text: string): JsonValue {
  try {
    const value: JsonValue = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}
