import type { JsonValue } from "@narthex/contracts";

const MAX_NOTE = 300;

/** Describes the constraint of a keyword that a provider does not support, in words that a model can follow. */
export function noteKeyword(keyword: string, value: JsonValue): string {
  const text = JSON.stringify(value);
  return `${keyword}: ${text.length > MAX_NOTE ? `${text.slice(0, MAX_NOTE).toWellFormed()}…` : text}`;
}

/** Appends such notes to a description. */
export function withNotes(description: string, notes: readonly string[]): string {
  if (notes.length === 0) return description;
  const rules = `Further rules: ${notes.join("; ")}`;
  return description === "" ? rules : `${description}\n${rules}`;
}
