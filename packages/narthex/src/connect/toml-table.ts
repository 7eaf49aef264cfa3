import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "@narthex/contracts";
import { parseToml, type TomlStatement } from "./toml-text.ts";

/** A table with its sub-tables, in whichever form the TOML text writes it. */
export interface TomlTable {
  readonly statements: readonly [TomlStatement, ...TomlStatement[]];
  /** Values of its own keys, as far as they are plain. */
  readonly value: JsonObject;
  /**
   * The form of a table that is defined in one place: below a header, or by dotted keys below a header with
   * `tableDepth` keys.
   */
  readonly form: "header" | { readonly tableDepth: number } | undefined;
}

/** Returns undefined if the text has no such table. */
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

/** Whether the table holds the wanted values and nothing else. */
export function holdsOnly({ statements, value }: TomlTable, path: readonly string[], wanted: JsonObject): boolean {
  return (
    isDeepStrictEqual(value, wanted) &&
    statements.every(({ kind, path: { length } }) => length === path.length + (kind === "header" ? 0 : 1))
  );
}

export function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((key, index) => key === other[index]);
}

/** Whether a path is strictly below another one. */
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
