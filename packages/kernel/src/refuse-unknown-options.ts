import { type Code, KernelError, type Violation } from "@narthex/contracts";
import { unknownKey } from "./capability/json-reader.ts";
import { quoteText } from "./capability/quote-text.ts";

/** Each name of a type's fields. The compiler sees to it that none is missing and none is wrong. */
export type OptionNames<T> = Readonly<Record<keyof T, true>>;

/**
 * Throws INVALID_INPUT for what is no object, and for an option that nobody knows.
 *
 * SECURITY: code without types may misspell one. Most options narrow what is allowed; without this one would be left out
 * without a word.
 */
export function refuseUnknownOptions<T extends object>(options: T, names: OptionNames<T>, what: string): void {
  refuseOptions(findUnknownOptions(requireObject(options, what), Object.keys(names)), what);
}

/** Throws for what is no object. */
export function requireObject(options: unknown, what: string, code: Code = "INVALID_INPUT"): object {
  if (typeof options === "object" && options !== null && !Array.isArray(options)) return options;
  throw new KernelError(code, `${what} takes an object of options`);
}

export function findUnknownOptions(options: object, known: readonly string[]): Violation[] {
  return Object.keys(options)
    .filter((key) => !known.includes(key))
    .map((key) => ({ field: key, rule: "unknown_field", message: unknownKey(key, known) }));
}

/** Throws if there is anything to refuse. */
export function refuseOptions(violations: readonly Violation[], what: string, code: Code = "INVALID_INPUT"): void {
  if (violations.length === 0) return;
  const text = violations.map(({ field, message }) => `${quoteText(field)} ${message}`).join("; ");
  throw new KernelError(code, `options of ${what}: ${text}`, { violations });
}
