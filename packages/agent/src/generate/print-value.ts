import type { JsonValue } from "@narthex/contracts";

/** Columns of a line of generated code. */
export const LINE_WIDTH = 120;

const NAME = /^[A-Za-z_$][\w$]*$/;

/**
 * A JSON value as code: on one line where it fits, counted from a column, else one part to a line.
 *
 * SECURITY: the texts are from sources; as JSON they cannot end the literal that they stand in.
 */
export function printValue(value: JsonValue, indent: string, column: number): string {
  const flat = printFlat(value);
  // One column is left for the comma after it.
  if (typeof value !== "object" || value === null || column + flat.length < LINE_WIDTH) return flat;
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    return printLines(
      "[",
      value.map((item) => printValue(item, inner, inner.length)),
      "]",
      indent,
    );
  }
  const entries = Object.entries(value).map(([key, item]) => {
    const start = `${printKey(key)}: `;
    return `${start}${printValue(item, inner, inner.length + start.length)}`;
  });
  return printLines("{", entries, "}", indent);
}

/** Parts between brackets, each on a line of its own. */
export function printLines(open: string, parts: readonly string[], close: string, indent: string): string {
  return [open, ...parts.map((part) => `${indent}  ${part},`), `${indent}${close}`].join("\n");
}

export function printKey(key: string): string {
  return NAME.test(key) ? key : JSON.stringify(key);
}

/** The property of an expression. */
export function printAccess(expression: string, key: string): string {
  return NAME.test(key) ? `${expression}.${key}` : `${expression}[${JSON.stringify(key)}]`;
}

function printFlat(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(printFlat).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, item]) => `${printKey(key)}: ${printFlat(item)}`);
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}
