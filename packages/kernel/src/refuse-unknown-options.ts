import { KernelError, type Violation } from "@narthex/contracts";
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
  const given: unknown = options;
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new KernelError("INVALID_INPUT", `${what} takes an object of options`);
  }
  const known = Object.keys(names);
  const violations = Object.keys(given)
    .filter((key) => !known.includes(key))
    .map((key): Violation => ({ field: key, rule: "unknown_field", message: unknownKey(key, known) }));
  if (violations.length === 0) return;
  const text = violations.map(({ field, message }) => `${quoteText(field)} ${message}`).join("; ");
  throw new KernelError("INVALID_INPUT", `options of ${what}: ${text}`, { violations });
}
