import { utf8 } from "@narthex/contracts";
import type { Redactor } from "../tool/tool.ts";

/** One form of one secret, and its replacement. */
export interface SecretForm {
  readonly bytes: Uint8Array;
  readonly replacement: Uint8Array;
  /** The redactor it belongs to; all forms of one secret share it. */
  readonly redactor: Redactor;
}

export interface SecretHit {
  readonly at: number;
  readonly form: SecretForm;
}

/** Finds many byte strings in one pass over the bytes (Wu and Manber's algorithm, blocks of two bytes). */
export interface SecretSearch {
  /** Length of the longest form; 0 if there is nothing to search for. */
  readonly longest: number;
  /** The first match that begins at `from` or later; the longest if several begin there. */
  next(bytes: Uint8Array, from: number): SecretHit | undefined;
}

const HASH_BITS = 13;
const TABLE_SIZE = 1 << HASH_BITS;
const MAX_SHIFT = 255;
const NOTHING: SecretSearch = { longest: 0, next: () => undefined };
const known = new WeakMap<readonly Redactor[], SecretSearch>();

/** Returns the search for a list of redactors, cached per list. */
export function searchFor(redactors: readonly Redactor[]): SecretSearch {
  if (redactors.length === 0) return NOTHING;
  let search = known.get(redactors);
  if (search === undefined) {
    search = createSearch(formsOf(redactors));
    known.set(redactors, search);
  }
  return search;
}

export function holdsSecret(bytes: Uint8Array, redactors: readonly Redactor[]): boolean {
  return redactors.length > 0 && searchFor(redactors).next(bytes, 0) !== undefined;
}

function formsOf(redactors: readonly Redactor[]): SecretForm[] {
  const forms = new Map<string, SecretForm>();
  for (const redactor of redactors) {
    const replacement = utf8(redactor.replacement);
    // The secret itself, and its escaped form in JSON. A form listed by several redactors belongs to the first.
    for (const secret of redactor.secrets.flatMap((text) => [text, JSON.stringify(text).slice(1, -1)])) {
      if (secret !== "" && !forms.has(secret)) forms.set(secret, { bytes: utf8(secret), replacement, redactor });
    }
  }
  return [...forms.values()].sort((left, right) => right.bytes.length - left.bytes.length);
}

/** `forms` must be sorted, longest first. */
function createSearch(forms: readonly SecretForm[]): SecretSearch {
  const longest = forms[0]?.bytes.length ?? 0;
  const shortest = forms.at(-1)?.bytes.length ?? 0;
  if (shortest === 0) return NOTHING;
  if (shortest === 1) return createSlowSearch(forms, longest);
  const furthest = Math.min(MAX_SHIFT, shortest - 1);
  const shifts = new Uint8Array(TABLE_SIZE).fill(furthest);
  const ending = new Map<number, SecretForm[]>();
  for (const form of forms) {
    for (let end = 1; end < shortest; end++) {
      const block = blockAt(form.bytes, end);
      shifts[block] = Math.min(shifts[block] ?? 0, shortest - 1 - end);
      if (end === shortest - 1) ending.set(block, [...(ending.get(block) ?? []), form]);
    }
  }
  return {
    longest,
    next(bytes, from) {
      let end = from + shortest - 1;
      while (end < bytes.length) {
        const block = blockAt(bytes, end);
        const shift = shifts[block] ?? 0;
        if (shift > 0) {
          end += shift;
          continue;
        }
        const at = end - shortest + 1;
        const form = ending.get(block)?.find((candidate) => isAt(bytes, at, candidate.bytes));
        if (form !== undefined) return { at, form };
        end++;
      }
      return undefined;
    },
  };
}

function blockAt(bytes: Uint8Array, end: number): number {
  return (((bytes[end - 1] ?? 0) << 5) ^ (bytes[end] ?? 0)) & (TABLE_SIZE - 1);
}

function isAt(bytes: Uint8Array, at: number, wanted: Uint8Array): boolean {
  if (at + wanted.length > bytes.length) return false;
  for (let i = 0; i < wanted.length; i++) if (bytes[at + i] !== wanted[i]) return false;
  return true;
}

/** For forms of a single byte, which only a tool's own redactors can have. */
function createSlowSearch(forms: readonly SecretForm[], longest: number): SecretSearch {
  return {
    longest,
    next(bytes, from) {
      for (let at = from; at < bytes.length; at++) {
        const form = forms.find((candidate) => isAt(bytes, at, candidate.bytes));
        if (form !== undefined) return { at, form };
      }
      return undefined;
    },
  };
}
