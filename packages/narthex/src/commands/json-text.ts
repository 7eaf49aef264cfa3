import type { JsonValue } from "@narthex/contracts";

/** The value of JSON text that came from a kernel; text that is none stays text. */
export function readJsonText(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

/** JSON with spaces, where it can be broken into lines that fit. */
export function spacedJson(value: JsonValue): string {
  // A line feed in a text is escaped: these are all between values.
  return typeof value === "string" ? value : JSON.stringify(value, undefined, 1).replaceAll(/\n */g, " ");
}
