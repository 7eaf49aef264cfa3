import type { JsonValue } from "@narthex/contracts";

/** The value of JSON text that came from a kernel; text that is none stays text. */
export function readJsonText(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

/** JSON with a space after each comma, where it can be broken into lines that fit. */
export function spacedJson(value: JsonValue): string {
  if (typeof value === "string") return value;
  // One member to a line: a line feed or a quote in a text is escaped.
  const lines = JSON.stringify(value, undefined, 1).split("\n");
  return lines.map((line) => line.trim().replace(MEMBER, "$1:").replace(/,$/, ", ")).join("");
}

/** A member's name and what separates it from its value. */
const MEMBER = /^("(?:[^"\\]|\\.)*"): /;
