import type { JsonValue } from "@narthex/contracts";

/** Maximum number of columns in a line of generated code. */
export const LINE_WIDTH = 120;

const NAME = /^[A-Za-z_$][\w$]*$/;

/**
 * Prints a JSON value as code: on one line if it fits after `column`, otherwise one element per line.
 *
 * SECURITY: the texts come from sources; as JSON they cannot close the literal that contains them.
 */
export function printValue(value: JsonValue, indent: string, column: number): string {
  const flat = printFlat(value);
  // One column is reserved for a trailing comma.
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

/** Prints parts between brackets, each on its own line. */
export function printLines(open: string, parts: readonly string[], close: string, indent: string): string {
  return [open, ...parts.map((part) => `${indent}  ${part},`), `${indent}${close}`].join("\n");
}

export function printKey(key: string): string {
  return NAME.test(key) ? key : JSON.stringify(key);
}

/** Prints the access to a property of an expression. */
export function printAccess(expression: string, key: string): string {
  return NAME.test(key) ? `${expression}.${key}` : `${expression}[${JSON.stringify(key)}]`;
}

function printFlat(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(printFlat).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, item]) => `${printKey(key)}: ${printFlat(item)}`);
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}
