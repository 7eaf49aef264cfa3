import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import type { EditedText } from "./apply-edits.ts";
import { type AppliedEdit, EditProblem, type MemberEdit } from "./configuration-edit.ts";
import { indentAt, lineStart, detectStyle } from "./text-style.ts";
import { findTable, holdsOnly, isBelow, isSame } from "./toml-table.ts";
import { parseToml, type TomlAssignment, type TomlHeader, type TomlStatement } from "./toml-text.ts";

/**
 * Applies edits to a TOML text and changes nothing else. An object is a table that is replaced as a whole. Values that
 * are already there are not added again.
 */
export function applyTomlEdits(text: string, edits: readonly MemberEdit[]): EditedText {
  // Applies each edit to the original text first, so that an error reports its position there.
  for (const edit of edits) applyEdit(text, edit);
  let edited: EditedText = { text, applied: [] };
  for (const edit of edits) {
    const next = applyEdit(edited.text, edit);
    edited = { text: next.text, applied: [...edited.applied, ...next.applied] };
  }
  return edited;
}

function applyEdit(text: string, edit: MemberEdit): EditedText {
  return isJsonObject(edit.value) ? applyTable(text, edit, edit.value) : applyOne(text, edit);
}

/**
 * Replaces a table that narthex owns.
 *
 * SECURITY: as a whole, with its sub-tables. A remaining variable would be passed to the program that the table starts,
 * and `NODE_OPTIONS` runs code in it, outside of any sandbox.
 */
function applyTable(text: string, edit: MemberEdit, value: JsonObject): EditedText {
  const { at, key } = edit;
  const path = [...at, key];
  const found = findTable(text, path);
  if (found === undefined) return applyKeys(text, path, value);
  if (holdsOnly(found, path, value)) return { text, applied: [] };
  const [first] = found.statements;
  const isNew = Object.entries(value).some(([name, wanted]) => !isDeepStrictEqual(found.value[name], wanted));
  if (isNew && !edit.mayReplace(found.value)) throw createForeignValueProblem(first.start, path);
  const isOwn = found.statements.every(({ kind, path: { length }, path: { [at.length + 1]: name = "" } }) =>
    kind === "header" ? length === path.length : length === path.length + 1 && Object.hasOwn(value, name),
  );
  if (isOwn) return applyKeys(text, path, value);
  if (found.form === undefined) {
    const name = path.join(".");
    throw new EditProblem(first.start, `\`${name}\` holds more than narthex's keys, in several places; remove it`);
  }
  const { form } = found;
  const keys = form === "header" ? [] : path.slice(form.tableDepth);
  const entries = Object.entries(value).map(([name, item]) => renderLine([...keys, name], item));
  const lines = form === "header" ? [`[${renderKeys(path)}]`, ...entries] : entries;
  const end = found.statements.at(-1)?.end ?? first.end;
  return {
    text: text.slice(0, first.start) + lines.join(detectStyle(text).lineEnd) + text.slice(end),
    applied: [{ kind: "member", at, key, value, previous: text.slice(first.start, end) }],
  };
}

/** Adds each key of a table separately. */
function applyKeys(text: string, at: readonly string[], value: JsonObject): EditedText {
  let edited: EditedText = { text, applied: [] };
  for (const [key, item] of Object.entries(value)) {
    const next = applyOne(edited.text, { kind: "member", at, key, value: item, mayReplace: () => true });
    edited = { text: next.text, applied: [...edited.applied, ...next.applied] };
  }
  return edited;
}

function applyOne(text: string, { at, key, value, mayReplace }: MemberEdit): EditedText {
  const statements = parseToml(text);
  const path = [...at, key];
  const found = statements.find((statement) => isSame(statement.path, path));
  if (found?.kind === "assignment") {
    if (isDeepStrictEqual(found.value, value)) return { text, applied: [] };
    if (!mayReplace(found.value ?? null)) throw createForeignValueProblem(found.start, path);
    const previous = text.slice(found.valueStart, found.end);
    return {
      text: text.slice(0, found.valueStart) + renderToml(value) + text.slice(found.end),
      applied: [{ kind: "member", at, key, value, previous }],
    };
  }
  refuseOtherForms(statements, path);
  return insert(text, statements, { at, key, value });
}

/**
 * Rejects forms that cannot be extended by adding a line: a value, an inline table or a list of tables along the path,
 * or a table at the path itself.
 */
function refuseOtherForms(statements: readonly TomlStatement[], path: readonly string[]): void {
  for (const statement of statements) {
    const isOnTheWay = isBelow(path, statement.path);
    const isTable = statement.kind === "header" && !statement.isElement;
    if ((isOnTheWay && !isTable) || isSame(statement.path, path) || isBelow(statement.path, path)) {
      const name = statement.path.join(".");
      throw new EditProblem(
        statement.start,
        `\`${name}\` is not a plain table; write it as \`[${name}]\` with one key a line`,
      );
    }
  }
}

interface Insertion {
  readonly at: readonly string[];
  readonly key: string;
  readonly value: JsonValue;
}

function insert(text: string, statements: readonly TomlStatement[], { at, key, value }: Insertion): EditedText {
  const member: AppliedEdit = { kind: "member", at, key, value };
  const header = statements.find((statement) => statement.kind === "header" && isSame(statement.path, at));
  // A table that dotted keys define must not be opened by a header as well.
  const dotted = statements.findLast(
    (statement) => statement.kind === "assignment" && statement.tableDepth < at.length && isBelow(statement.path, at),
  );
  if (at.length > 0 && header === undefined && dotted?.kind === "assignment") {
    const line = renderLine([...at.slice(dotted.tableDepth), key], value);
    return { text: insertLine(text, dotted, line), applied: [member] };
  }
  const line = renderLine([key], value);
  if (at.length > 0 && header === undefined) {
    const table: AppliedEdit = { kind: "container", at: at.slice(0, -1), key: at.at(-1) ?? "", ...separation(text) };
    return { text: appendLines(text, [`[${renderKeys(at)}]`, line]), applied: [table, member] };
  }
  const last = findLastStatement(statements, header);
  if (last !== undefined) return { text: insertLine(text, last, line), applied: [member] };
  const [first] = statements;
  if (first === undefined) return { text: appendLines(text, [line], ""), applied: [member] };
  const place = beforeComments(text, lineStart(text, first.start));
  const { lineEnd } = detectStyle(text);
  const edited = `${text.slice(0, place)}${line}${lineEnd}${lineEnd}${text.slice(place)}`;
  return { text: edited, applied: [{ ...member, blank: true }] };
}

/** Finds the last statement of a table, or of the part before all tables. */
function findLastStatement(
  statements: readonly TomlStatement[],
  header: TomlStatement | undefined,
): TomlStatement | undefined {
  const from = header === undefined ? 0 : statements.indexOf(header) + 1;
  const next = statements.findIndex((statement, index) => index >= from && statement.kind === "header");
  const own = statements.slice(from, next < 0 ? undefined : next);
  return own.at(-1) ?? header;
}

/** A comment directly above a header belongs to that header. */
function beforeComments(text: string, from: number): number {
  let place = from;
  for (;;) {
    if (place === 0) return text.startsWith("\ufeff") ? 1 : 0;
    const above = lineStart(text, place - (text.startsWith("\r\n", place - 2) ? 2 : 1));
    if (!text.slice(above, place).trimStart().startsWith("#")) return place;
    place = above;
  }
}

function insertLine(text: string, after: TomlAssignment | TomlHeader, line: string): string {
  const { lineEnd } = detectStyle(text);
  const rest = text.slice(after.end);
  const ownEnd = after.end + (/[\r\n]/.exec(rest)?.index ?? rest.length);
  const indent = indentAt(text, after.start);
  return `${text.slice(0, ownEnd)}${lineEnd}${after.kind === "header" ? "" : indent}${line}${text.slice(ownEnd)}`;
}

/** Appends lines at the end, after an empty line. Adds a line end first if the file lacks one. */
function appendLines(text: string, lines: readonly string[], gap?: string): string {
  const { lineEnd } = detectStyle(text);
  if (text === "") return lines.map((line) => `${line}${lineEnd}`).join("");
  const body = lines.join(lineEnd);
  const space = gap ?? lineEnd;
  return /[\r\n]$/.test(text) ? `${text}${space}${body}${lineEnd}` : `${text}${lineEnd}${space}${body}`;
}

function separation(text: string): { readonly blank?: true } {
  return text === "" ? {} : { blank: true };
}

function renderLine(keys: readonly string[], value: JsonValue): string {
  return `${renderKeys(keys)} = ${renderToml(value)}`;
}

function renderKeys(keys: readonly string[]): string {
  return keys.map((key) => (/^[\w-]+$/.test(key) ? key : renderText(key))).join(".");
}

function renderToml(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(renderToml).join(", ")}]`;
  if (typeof value === "string") return renderText(value);
  if (typeof value === "boolean" || typeof value === "number") return String(value);
  throw new Error("internal error: a value that TOML cannot hold on one line");
}

/** TOML's basic strings are JSON strings, except for one control character that JSON leaves unescaped. */
function renderText(text: string): string {
  return JSON.stringify(text).replaceAll("\u007f", "\\u007f");
}

function createForeignValueProblem(at: number, path: readonly string[]): EditProblem {
  return new EditProblem(at, `\`${path.join(".")}\` is not narthex's; rename or remove it`);
}
