import type { JsonValue } from "@narthex/contracts";

/** Parses JSON text from a kernel; returns text that is not JSON unchanged. */
export function readJsonText(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

/** Formats JSON with a space after each comma, so that it can be wrapped. */
export function spacedJson(value: JsonValue): string {
  if (typeof value === "string") return value;
  // One member per line: line feeds and quotes inside strings are escaped.
  const lines = JSON.stringify(value, undefined, 1).split("\n");
  return lines.map((line) => line.trim().replace(MEMBER, "$1:").replace(/,$/, ", ")).join("");
}

/** Matches a member's name and the separator before its value. */
const MEMBER = /^("(?:[^"\\]|\\.)*"): /;
