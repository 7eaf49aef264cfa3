import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import type { ViewPart } from "@narthex/kernel";

/** Text views of the file tools' results for models. Each function takes the result of its tool. */

export function writtenText({ bytes, created }: JsonObject): ViewPart[] {
  return [`${created === true ? "created, " : ""}${shown(bytes)} bytes written`];
}

export function editedText({ lines }: JsonObject): ViewPart[] {
  const numbers = Array.isArray(lines) ? lines : [];
  if (numbers.length === 0) return ["edited"];
  return [longText(`edited at line${numbers.length === 1 ? "" : "s"} ${numbers.map(shown).join(", ")}`)];
}

export function deletedText({ count, deleted }: JsonObject): ViewPart[] {
  const paths = Array.isArray(deleted) ? deleted : [];
  const more = typeof count === "number" && count > paths.length ? [`… and ${count - paths.length} more`] : [];
  return [longText(["deleted:", ...paths.map((path) => plainName(shown(path))), ...more].join("\n"))];
}

export function movedText({ source, destination, replaced }: JsonObject): ViewPart[] {
  const names = `moved ${plainName(shown(source))} to ${plainName(shown(destination))}`;
  return [replaced === true ? `${names}, in place of the file that was there` : names];
}

/** One entry per line: a directory ends with a slash, a file has its size. */
export function listedText(entries: readonly JsonValue[]): ViewPart[] {
  if (entries.length === 0) return ["no entries"];
  return [longText(entries.map((entry) => entryLine(isJsonObject(entry) ? entry : {})).join("\n"))];
}

function entryLine({ name, kind, size }: JsonObject): string {
  const entry = plainName(shown(name));
  if (kind === "directory") return `${entry}/`;
  return kind === "file" ? `${entry}  ${shown(size)}` : `${entry}  (${shown(kind)})`;
}

function shown(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

/** A view part for a text that is the whole result. */
export function longText(text: string): ViewPart {
  return { text, size: Buffer.byteLength(text) };
}

/** The name, quoted as JSON if it has control characters, so that it cannot look like several lines. */
export function plainName(name: string): string {
  return CONTROL.test(name) ? JSON.stringify(name) : name;
}

const CONTROL = /\p{Cc}|\u2028|\u2029/u;
