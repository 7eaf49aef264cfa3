import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type JsonObject } from "@narthex/contracts";
import type { AppliedEdit } from "./configuration-edit.ts";
import type { RevertedText } from "./revert-edits.ts";
import { lineStart } from "./text-style.ts";
import { findTable, holdsOnly, isBelow, isSame } from "./toml-table.ts";
import { parseToml, type TomlStatement } from "./toml-text.ts";

/** Reverts applied edits of a TOML text, last first. Keeps everything that was changed since. */
export function revertTomlEdits(text: string, applied: readonly AppliedEdit[]): RevertedText {
  let edited = text;
  const left: string[] = [];
  for (const edit of applied.toReversed()) {
    if (edit.kind === "element") continue;
    const next = edit.kind === "container" ? removeTable(edited, edit) : removeMember(edited, edit);
    if (next === undefined) left.push([...edit.at, edit.key].join("."));
    else edited = next;
  }
  return { text: edited, conflicts: left };
}

/** Returns undefined if the value was changed since. */
function removeMember(text: string, edit: AppliedEdit & { readonly kind: "member" }): string | undefined {
  const path = [...edit.at, edit.key];
  if (isJsonObject(edit.value)) return restoreTable(text, path, edit.value, edit.previous ?? "");
  const found = parseToml(text).find((statement) => isSame(statement.path, path));
  if (found === undefined) return text;
  if (found.kind !== "assignment" || !isDeepStrictEqual(found.value, edit.value)) return undefined;
  if (edit.previous !== undefined) return text.slice(0, found.valueStart) + edit.previous + text.slice(found.end);
  return removeLine(text, found, edit.blank === true ? "after" : undefined);
}

/** Restores a table that was replaced as a whole. Returns undefined if it was changed since. */
function restoreTable(text: string, path: readonly string[], value: JsonObject, previous: string): string | undefined {
  const found = findTable(text, path);
  if (found === undefined) return text;
  if (found.form === undefined || !holdsOnly(found, path, value)) return undefined;
  const [first] = found.statements;
  return text.slice(0, first.start) + previous + text.slice(found.statements.at(-1)?.end);
}

/** Keeps a table that holds anything, even a comment. */
function removeTable(text: string, edit: AppliedEdit & { readonly kind: "container" }): string {
  const path = [...edit.at, edit.key];
  const statements = parseToml(text);
  const header = statements.find((statement) => statement.kind === "header" && isSame(statement.path, path));
  if (header === undefined) return text;
  const next = statements[statements.indexOf(header) + 1];
  if (next?.kind === "assignment" || statements.some((statement) => isBelow(statement.path, path))) return text;
  if (text.slice(header.end, next?.start).trim() !== "") return text;
  return removeLine(text, header, edit.blank === true ? "before" : undefined);
}

/** Removes a statement with its line, and an adjacent empty line. A comment on the line stays. */
function removeLine(text: string, { start, end }: TomlStatement, blank: "after" | "before" | undefined): string {
  const rest = /^[ \t]*(?:#[^\r\n]*)?/.exec(text.slice(end))?.[0] ?? "";
  if (rest.trim() !== "") return text.slice(0, start) + text.slice(end + rest.length - rest.trimStart().length);
  const from = lineStart(text, start);
  const to = pastLineEnd(text, end + rest.length);
  if (to === end + rest.length) {
    // A last line without a line end also gives up the line end before it.
    const cut = beforeLineEnd(text, from);
    return text.slice(0, blank === "before" ? beforeLineEnd(text, cut) : cut);
  }
  if (blank === "after" && isLineEnd(text, to)) return text.slice(0, from) + text.slice(pastLineEnd(text, to));
  const above = beforeLineEnd(text, from);
  const isBlankAbove = above < from && (above === 0 || isLineEnd(text, above - 1));
  return text.slice(0, blank === "before" && isBlankAbove ? above : from) + text.slice(to);
}

function isLineEnd(text: string, at: number): boolean {
  return /[\r\n]/.test(text[at] ?? "");
}

function pastLineEnd(text: string, at: number): number {
  return at + (/^(?:\r\n|\n|\r)/.exec(text.slice(at, at + 2))?.[0].length ?? 0);
}

function beforeLineEnd(text: string, at: number): number {
  if (text.startsWith("\r\n", at - 2)) return at - 2;
  return isLineEnd(text, at - 1) ? at - 1 : at;
}
