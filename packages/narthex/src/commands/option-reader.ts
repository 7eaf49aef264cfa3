import { usageError } from "../terminal/command-error.ts";
import { parseCount, parseDurationMs } from "../terminal/units.ts";

/** Reads a command's options with their types. */
export interface OptionReader {
  flag(name: string): boolean;
  text(name: string): string | undefined;
  texts(name: string): readonly string[];
  count(name: string): number | undefined;
  durationMs(name: string): number | undefined;
}

/** `values` come from the parser under camel-case names; `name` is the option as typed, without dashes. */
export function createOptionReader(values: Readonly<Record<string, unknown>>): OptionReader {
  const read = (name: string): unknown =>
    values[name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())];
  const text = (name: string): string | undefined => {
    const value = read(name);
    if (value === undefined || typeof value === "string") return value;
    throw usageError(`--${name} takes one value`);
  };
  const parsed = (name: string, parse: (value: string) => number | undefined, expected: string): number | undefined => {
    const value = text(name);
    if (value === undefined) return undefined;
    const result = parse(value);
    if (result === undefined) throw usageError(`--${name} takes ${expected}, not \`${value.slice(0, 60)}\``);
    return result;
  };
  return {
    flag: (name) => read(name) === true,
    text,
    texts(name) {
      const value = read(name);
      const values: readonly unknown[] = Array.isArray(value) ? value : [value];
      return values.filter((item) => typeof item === "string");
    },
    count: (name) => parsed(name, parseCount, "a whole number"),
    durationMs: (name) => parsed(name, parseDurationMs, "a duration such as 500ms, 30s, 10m or 8h"),
  };
}
