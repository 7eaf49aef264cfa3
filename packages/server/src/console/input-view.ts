import { isJsonObject, type JsonValue } from "@narthex/contracts";
import { cachedCanonicalJson } from "../cached-canonical-json.ts";
import type { ConsoleLimits } from "./console-limits.ts";
import { type TextPartView, type TextView, toTextPartView, toTextView } from "./text-view.ts";

/** The input that a call would run with, for a person to read. */
export interface InputView {
  /** Size of its canonical JSON in bytes. */
  readonly bytes: number;
  /** The members of an object: strings as they are, everything else as JSON. */
  readonly fields: readonly FieldView[];
  /** Number of members that are not among the fields. */
  readonly moreFields: number;
}

export interface FieldView extends TextPartView {
  readonly name: TextView;
  readonly isText: boolean;
}

type InputViewLimits = Pick<ConsoleLimits, "maxShownCharacters" | "maxShownFields">;

const MAX_NAME = 256;

export function toInputView(input: JsonValue, limits: InputViewLimits): InputView {
  const members: [string, JsonValue][] = isJsonObject(input) ? Object.entries(input) : [["", input]];
  const texts = members.slice(0, limits.maxShownFields).map(([name, value]) => ({ name, ...textOf(value) }));
  let left = limits.maxShownCharacters;
  const fields = new Map<string, FieldView>();
  // SECURITY: short members are shown first, wherever they are, so that no long member hides a command.
  for (const { name, text, isText } of texts.toSorted((a, b) => a.text.length - b.text.length)) {
    const field = { name: toTextView(shortName(name)), isText, ...toTextPartView(text, 0, left) };
    left = Math.max(0, left - field.shown);
    fields.set(name, field);
  }
  return {
    bytes: Buffer.byteLength(cachedCanonicalJson(input)),
    fields: texts.flatMap(({ name }) => fields.get(name) ?? []),
    moreFields: members.length - texts.length,
  };
}

/** Returns a part of the exact text: the canonical JSON that was hashed. */
export function toJsonView(input: JsonValue, offset: number, limits: InputViewLimits): TextPartView {
  return toTextPartView(cachedCanonicalJson(input), offset, limits.maxShownCharacters);
}

function textOf(value: JsonValue): { readonly text: string; readonly isText: boolean } {
  return typeof value === "string"
    ? { text: value, isText: true }
    : { text: JSON.stringify(value, undefined, 2), isText: false };
}

function shortName(name: string): string {
  return name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME)}… (${name.length} characters)`;
}
