import { type Code, KernelError, type Violation } from "@narthex/contracts";
import { unknownKey } from "./capability/json-reader.ts";
import { quoteText } from "./capability/quote-text.ts";

/** The names of all fields of a type. The compiler checks that none is missing and none is misspelt. */
export type OptionNames<T> = Readonly<Record<keyof T, true>>;

/**
 * Throws INVALID_INPUT if the value is not an object, or for unknown options.
 *
 * SECURITY: untyped code may misspell an option. Most options narrow what is allowed; without this check a misspelt one
 * would be ignored silently.
 */
export function refuseUnknownOptions<T extends object>(options: T, names: OptionNames<T>, what: string): void {
  refuseOptions(findUnknownOptions(requireObject(options, what), Object.keys(names)), what);
}

/** Throws if the value is not an object. */
export function requireObject(options: unknown, what: string, code: Code = "INVALID_INPUT"): object {
  if (typeof options === "object" && options !== null && !Array.isArray(options)) return options;
  throw new KernelError(code, `${what} takes an object of options`);
}

export function findUnknownOptions(options: object, known: readonly string[]): Violation[] {
  return Object.keys(options)
    .filter((key) => !known.includes(key))
    .map((key) => ({ field: key, rule: "unknown_field", message: unknownKey(key, known) }));
}

/** Throws if there are violations. */
export function refuseOptions(violations: readonly Violation[], what: string, code: Code = "INVALID_INPUT"): void {
  if (violations.length === 0) return;
  const text = violations.map(({ field, message }) => `${quoteText(field)} ${message}`).join("; ");
  throw new KernelError(code, `options of ${what}: ${text}`, { violations });
}
