import type { JsonValue } from "@narthex/contracts";
import { isJsonObject } from "@narthex/contracts";

/** Layout of a file, so that additions look like the rest. */
export interface TextStyle {
  readonly lineEnd: string;
  /** One step of indentation. */
  readonly unit: string;
}

const MAX_WIDTH = 100;
const DEFAULT_UNIT = "  ";

export function detectStyle(text: string): TextStyle {
  const unit = /^[{[][^\S\r\n]*\r?\n(?<unit>[ \t]+)\S/m.exec(text)?.groups?.["unit"];
  return { lineEnd: text.includes("\r\n") ? "\r\n" : "\n", unit: unit ?? DEFAULT_UNIT };
}

/** Returns the indentation of the line that contains `at`. */
export function indentAt(text: string, at: number): string {
  const start = lineStart(text, at);
  return /^[ \t]*/.exec(text.slice(start, at))?.[0] ?? "";
}

export function lineStart(text: string, at: number): number {
  return Math.max(text.lastIndexOf("\n", at - 1), text.lastIndexOf("\r", at - 1)) + 1;
}

/** Formats a value with its further lines indented by `indent`. Lists of scalars stay on one line if they fit. */
export function renderJson(value: JsonValue, indent: string, style: TextStyle): string {
  const flat = renderFlat(value);
  if (typeof value !== "object" || value === null || flat.length <= 2) return flat;
  if (Array.isArray(value) && value.every((item) => typeof item !== "object") && flat.length <= MAX_WIDTH) return flat;
  const inner = indent + style.unit;
  const lines = Array.isArray(value)
    ? value.map((item) => renderJson(item, inner, style))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${renderJson(item, inner, style)}`);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  const body = lines.map((line) => `${inner}${line}`).join(`,${style.lineEnd}`);
  return `${open}${style.lineEnd}${body}${style.lineEnd}${indent}${close}`;
}

/** Formats a value on one line, with a space after each comma and colon. */
export function renderFlat(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(renderFlat).join(", ")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${renderFlat(item)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}
