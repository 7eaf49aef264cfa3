import { findForeignLetters, isDisguisedAscii } from "./lookalikes.ts";
import { INVISIBLE_CHARACTER } from "./invisible-character.ts";

/**
 * hidden: not shown, or changes how other characters are shown. blank: white space that is not a plain space, or so
 * much of it that the text after it could be out of view. lookalike: looks like another character.
 */
export type MarkKind = "hidden" | "blank" | "lookalike";

export interface Mark {
  readonly kind: MarkKind;
  /** The original character, once. */
  readonly character: string;
  /** For example `U+202E`. */
  readonly codePoint: string;
  /** How many times it is repeated here. */
  readonly count: number;
}

/** The text in order, with marks in place of characters that a reader could overlook or mistake for others. */
export type MarkedText = readonly (string | Mark)[];

/** Up to this many consecutive spaces count as layout. */
const MAX_SPACES = 16;
const MAX_LINE_FEEDS = 2;
const MAX_COMBINING = 3;

const WORD = /[\p{L}\p{M}\p{N}_]+/uy;
const RUN = /(.)\1*/suy;
const UNSEEN = new RegExp(INVISIBLE_CHARACTER, "u");
const SPACE = /\p{Zs}/u;
const TOO_MANY_COMBINING = new RegExp(`\\p{M}{${MAX_COMBINING + 1}}`, "u");
/** Fast path: most text is plain ASCII and needs no marks. */
const PLAIN = /^[\x20-\x7e]*$/;
const LONG_SPACES = " ".repeat(MAX_SPACES + 1);

/**
 * Splits a text into plain parts and marks.
 *
 * SECURITY: an agent chooses the text on which a person bases a decision. Every character that a screen hides, reorders
 * or shows like another one becomes a mark with its code point, and blanks that push words out of view are counted
 * instead of shown. The parts joined together are the original text: nothing is normalised, nothing is lost.
 */
export function markText(text: string): MarkedText {
  if (PLAIN.test(text) && !text.includes(LONG_SPACES)) return text === "" ? [] : [text];
  const parts: (string | Mark)[] = [];
  let plain = "";
  const add = (part: string | Mark): void => {
    if (typeof part === "string") plain += part;
    else {
      if (plain !== "") parts.push(plain);
      plain = "";
      parts.push(part);
    }
  };
  for (let at = 0; at < text.length; ) {
    const word = matchAt(WORD, text, at);
    const part = word ?? matchAt(RUN, text, at) ?? text.slice(at);
    if (word === undefined) markRun(part, add);
    else markWord(part, add);
    at += part.length;
  }
  if (plain !== "") parts.push(plain);
  return parts;
}

/** Returns the original text. */
export function unmarkText(parts: MarkedText): string {
  return parts.map((part) => (typeof part === "string" ? part : part.character.repeat(part.count))).join("");
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

function markWord(word: string, add: (part: string | Mark) => void): void {
  const foreign = findForeignLetters(word);
  const isStacked = TOO_MANY_COMBINING.test(word);
  for (const character of word) {
    if (UNSEEN.test(character) || (isStacked && /\p{M}/u.test(character))) add(markOf("hidden", character, 1));
    else if (foreign.has(character) || isDisguised(character)) add(markOf("lookalike", character, 1));
    else add(character);
  }
}

function isDisguised(character: string): boolean {
  return character > "\u007f" && isDisguisedAscii(character);
}

/** Marks a run of one repeated character. */
function markRun(run: string, add: (part: string | Mark) => void): void {
  const [character = ""] = run;
  const count = run.length / character.length;
  if (character === "\n" && count <= MAX_LINE_FEEDS) add(run);
  else if (character === " " && count <= MAX_SPACES) add(run);
  else if (SPACE.test(character) || character === "\n" || character === "\t") add(markOf("blank", character, count));
  else if (UNSEEN.test(character)) add(markOf("hidden", character, count));
  else if (isDisguised(character)) add(markOf("lookalike", character, count));
  else add(run);
}

function markOf(kind: MarkKind, character: string, count: number): Mark {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return { kind, character, codePoint: `U+${code}`, count };
}
