import { canonicalJson, isJsonObject, type JsonValue } from "@narthex/contracts";
import type { ConsoleLimits } from "./console-limits.ts";
import { type ShownPart, type ShownText, shownPart, shownText } from "./shown-text.ts";

/** What a call would be run with, for a person to read. */
export interface ShownInput {
  /** Bytes of its canonical JSON. */
  readonly bytes: number;
  /** The members of an object; texts as they are, everything else as JSON. */
  readonly fields: readonly ShownField[];
  /** Members that are not among the fields. */
  readonly moreFields: number;
}

export interface ShownField extends ShownPart {
  readonly name: ShownText;
  readonly isText: boolean;
}

type ShownLimits = Pick<ConsoleLimits, "maxShownCharacters" | "maxShownFields">;

const MAX_NAME = 256;

export function shownInput(input: JsonValue, limits: ShownLimits): ShownInput {
  const members: [string, JsonValue][] = isJsonObject(input) ? Object.entries(input) : [["", input]];
  let left = limits.maxShownCharacters;
  const fields = members.slice(0, limits.maxShownFields).map(([name, value]) => {
    const field = shownField(name, value, left);
    left = Math.max(0, left - field.shown);
    return field;
  });
  const bytes = Buffer.byteLength(canonicalJson(input));
  return { bytes, fields, moreFields: members.length - fields.length };
}

/** A part of the exact text: the canonical JSON that was hashed. */
export function shownJson(input: JsonValue, offset: number, limits: ShownLimits): ShownPart {
  return shownPart(canonicalJson(input), offset, limits.maxShownCharacters);
}

function shownField(name: string, value: JsonValue, most: number): ShownField {
  const isText = typeof value === "string";
  const text = isText ? value : JSON.stringify(value, undefined, 2);
  const shownName = name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME)}… (${name.length} characters)`;
  return { name: shownText(shownName), isText, ...shownPart(text, 0, most) };
}
