import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "@narthex/contracts";
import { parseToml, type TomlStatement } from "./toml-text.ts";

/** A table with its sub-tables, however a TOML text writes it. */
export interface TomlTable {
  readonly statements: readonly [TomlStatement, ...TomlStatement[]];
  /** The values of its own keys, as far as they are plain. */
  readonly value: JsonObject;
  /** It stands in one place, and this is how: below a header, or as lines with dotted keys below a header of so many keys. */
  readonly form: "header" | { readonly tableDepth: number } | undefined;
}

/** Undefined where the text has no such table. */
export function findTable(text: string, path: readonly string[]): TomlTable | undefined {
  const all = parseToml(text);
  const inside = all.filter((statement) => isSame(statement.path, path) || isBelow(statement.path, path));
  const [first, ...others] = inside;
  if (first === undefined) return undefined;
  const from = all.indexOf(first);
  const isOnePlace = inside.every((statement, index) => all[from + index] === statement);
  return {
    statements: [first, ...others],
    value: Object.fromEntries(inside.flatMap((statement) => ownValue(statement, path))),
    form: isOnePlace ? formOf(inside, path) : undefined,
  };
}

/** Whether it holds this and nothing else. */
export function holdsOnly({ statements, value }: TomlTable, path: readonly string[], wanted: JsonObject): boolean {
  return (
    isDeepStrictEqual(value, wanted) &&
    statements.every(({ kind, path: { length } }) => length === path.length + (kind === "header" ? 0 : 1))
  );
}

export function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((key, index) => key === other[index]);
}

/** Whether a path leads through another one and further. */
export function isBelow(path: readonly string[], above: readonly string[]): boolean {
  return path.length > above.length && above.every((key, index) => key === path[index]);
}

function ownValue(statement: TomlStatement, { length }: readonly string[]): [string, JsonObject[string]][] {
  const name = statement.path[length];
  if (statement.kind === "header" || name === undefined) return [];
  return [[name, statement.value ?? null]];
}

function formOf([first, ...others]: readonly TomlStatement[], path: readonly string[]): TomlTable["form"] {
  if (first === undefined || (isSame(first.path, path) && (first.kind === "assignment" || first.isElement)))
    return undefined;
  if (first.kind === "header") return "header";
  const { tableDepth } = first;
  const isDotted = others.every((other) => other.kind === "assignment" && other.tableDepth === tableDepth);
  return isDotted ? { tableDepth } : undefined;
}
