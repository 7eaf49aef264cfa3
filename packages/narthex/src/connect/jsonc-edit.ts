import type { JsonValue } from "@narthex/contracts";
import { type JsoncArray, type JsoncNode, type JsoncObject, skipTrivia } from "./jsonc-tree.ts";
import { indentAt, lineStart, renderFlat, renderJson, detectStyle } from "./text-style.ts";

type Container = JsoncObject | JsoncArray;

/** Adds a member at the end of an object. Leaves every other character in place. */
export function insertMember(text: string, object: JsoncObject, key: string, value: JsonValue): string {
  return insertEntry(text, object, `${JSON.stringify(key)}: `, value);
}

/** Adds an element at the end of a list. */
export function insertElement(text: string, list: JsoncArray, value: JsonValue): string {
  return insertEntry(text, list, "", value);
}

export function replaceValue(text: string, node: JsoncNode, value: JsonValue): string {
  const fresh = renderJson(value, indentAt(text, node.start), detectStyle(text));
  return splice(text, node.start, node.end, fresh);
}

/** Replaces a value with the given source text, unchanged. */
export function replaceText(text: string, node: JsoncNode, source: string): string {
  return splice(text, node.start, node.end, source);
}

/** Removes the entry with this index, its comma, and its line if nothing else is on it. Comments stay. */
export function removeEntry(text: string, container: Container, index: number): string {
  const entry = container.entries[index];
  if (entry === undefined) return text;
  const before = container.entries[index - 1];
  const isLast = index === container.entries.length - 1;
  const comma = commaAfter(text, entry.end);
  const start = wayBack(text, entry.start);
  // Removing the first of several entries on one line leaves no gap.
  const gap = start === container.start + 1 && !isLast ? /[ \t]*/y : /(?:)/y;
  const end = skip(text, comma === undefined ? entry.end : comma + 1, gap);
  // A comment between the entry and its comma belongs to the user and stays.
  const between = comma === undefined ? "" : text.slice(entry.end, comma).trimEnd();
  let edited = splice(text, start, end, between);
  if (isLast && comma === undefined && before !== undefined) {
    const loose = commaAfter(text, before.end);
    if (loose !== undefined) edited = splice(edited, loose, loose + 1, "");
  }
  return container.entries.length === 1 ? closeUp(edited, container.start) : edited;
}

function insertEntry(text: string, container: Container, prefix: string, value: JsonValue): string {
  const style = detectStyle(text);
  const close = container.end - 1;
  const last = container.entries.at(-1);
  if (last === undefined) {
    const outer = indentAt(text, container.start);
    const indent = outer + style.unit;
    const rendered = `${style.lineEnd}${indent}${prefix}${renderJson(value, indent, style)}${style.lineEnd}${outer}`;
    return splice(text, trimBack(text, close, container.start + 1), close, rendered);
  }
  const trailing = commaAfter(text, last.end);
  const isOneLine = !/[\r\n]/.test(text.slice(container.start, container.end));
  const indent = indentAt(text, last.start);
  const lead = isOneLine ? " " : `${style.lineEnd}${indent}`;
  const rendered = `${lead}${prefix}${isOneLine ? renderFlat(value) : renderJson(value, indent, style)}`;
  const place = trimBack(text, close, trailing === undefined ? last.end : trailing + 1);
  const edited = splice(text, place, place, trailing === undefined ? rendered : `${rendered},`);
  return trailing === undefined ? splice(edited, last.end, last.end, ",") : edited;
}

function commaAfter(text: string, end: number): number | undefined {
  const at = skipTrivia(text, end);
  return text[at] === "," ? at : undefined;
}

/**
 * Where the entry's own whitespace begins: at the end of the previous line if nothing else precedes the entry on its
 * line.
 */
function wayBack(text: string, start: number): number {
  const line = lineStart(text, start);
  if (text.slice(line, start).trim() === "") return line === 0 ? 0 : line - (text.startsWith("\r\n", line - 2) ? 2 : 1);
  return trimBack(text, start, line);
}

/** Collapses a container that lost its only entry and holds only whitespace. */
function closeUp(text: string, start: number): string {
  const rest = /^[\s]*/.exec(text.slice(start + 1))?.[0] ?? "";
  const close = start + 1 + rest.length;
  return text[close] === "}" || text[close] === "]" ? splice(text, start + 1, close, "") : text;
}

function skip(text: string, from: number, pattern: RegExp): number {
  pattern.lastIndex = from;
  return from + (pattern.exec(text)?.[0].length ?? 0);
}

function trimBack(text: string, from: number, least: number): number {
  let at = from;
  while (at > least && /\s/.test(text[at - 1] ?? "x")) at -= 1;
  return at;
}

function splice(text: string, start: number, end: number, replacement: string): string {
  return text.slice(0, start) + replacement + text.slice(end);
}
