import { canonicalJson, isJsonObject, type JsonValue, utf8 } from "@narthex/contracts";
import { type SecretForm, searchFor } from "../secret/secret-search.ts";
import type { Redactor } from "../tool/tool.ts";

/** Hides every secret in a text. */
export function redactText(text: string, redactors: readonly Redactor[]): string {
  if (redactors.length === 0) return text;
  const bytes = utf8(text);
  const redacted = redactBytes(bytes, redactors);
  return redacted === bytes ? text : Buffer.from(redacted).toString();
}

/** Hides secrets in every string and key of a value. */
export function redactJson(value: JsonValue, redactors: readonly Redactor[]): JsonValue {
  return redactors.length === 0 ? value : replaceTexts(value, (text) => redactText(text, redactors));
}

/** Like `redactJson`, but also for numbers: a number whose text contains a secret becomes a text. */
export function redactJsonAndNumbers(value: JsonValue, redactors: readonly Redactor[]): JsonValue {
  if (typeof value === "number") {
    const text = canonicalJson(value);
    const redacted = redactText(text, redactors);
    return redacted === text ? value : redacted;
  }
  if (Array.isArray(value)) return value.map((item) => redactJsonAndNumbers(item, redactors));
  if (!isJsonObject(value)) return redactJson(value, redactors);
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [redactText(key, redactors), redactJsonAndNumbers(item, redactors)]),
  );
}

/** Copies a value with every string and key replaced. */
export function replaceTexts(
  value: JsonValue,
  replace: (text: string) => string,
  replaceKey: (key: string) => string = replace,
): JsonValue {
  if (typeof value === "string") return replace(value);
  if (Array.isArray(value)) return value.map((item) => replaceTexts(item, replace, replaceKey));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [replaceKey(key), replaceTexts(item, replace, replaceKey)]),
  );
}

/**
 * Replaces secrets in a text. Overlapping secrets are replaced as one: `replacementFor` gets the first of them and the
 * whole hidden text.
 */
export function replaceSecrets(
  text: string,
  redactors: readonly Redactor[],
  replacementFor: (first: SecretForm, hidden: Uint8Array) => string,
): string {
  const search = searchFor(redactors);
  const bytes = Buffer.from(text);
  let replaced = "";
  let from = 0;
  for (let hit = search.next(bytes, 0); hit !== undefined; hit = search.next(bytes, from)) {
    const { at, form } = hit;
    let end = at + form.bytes.length;
    for (let next = search.next(bytes, at + 1); next !== undefined && next.at < end; ) {
      end = Math.max(end, next.at + next.form.bytes.length);
      next = search.next(bytes, next.at + 1);
    }
    replaced += bytes.toString("utf8", from, at) + replacementFor(form, bytes.subarray(at, end));
    from = end;
  }
  return replaced + bytes.toString("utf8", from);
}

/** Returns the same array if it contains no secret. */
export function redactBytes(bytes: Uint8Array, redactors: readonly Redactor[]): Uint8Array {
  if (searchFor(redactors).next(bytes, 0) === undefined) return bytes;
  const stream = createStreamRedactor(redactors);
  return Buffer.concat([stream.push(bytes), stream.end()]);
}

/** Hides secrets in bytes that arrive in arbitrary chunks. */
export interface StreamRedactor {
  /** Returns the bytes that are safe to pass on; the rest is held back. */
  push(chunk: Uint8Array): Uint8Array;
  end(): Uint8Array;
}

/**
 * Hides every byte of every secret. Overlapping secrets are hidden as one, with the replacement of the first: hiding
 * only one would reveal most of the other.
 */
export function createStreamRedactor(redactors: readonly Redactor[]): StreamRedactor {
  const search = searchFor(redactors);
  const { longest } = search;
  if (longest === 0) return { push: (chunk) => chunk, end: () => new Uint8Array(0) };
  let held: Buffer = Buffer.alloc(0);
  /** Number of held bytes that belong to an already hidden secret. */
  let covered = 0;

  /** Redacts all secrets that begin before `limit`. */
  function redact(bytes: Buffer, limit: number): Uint8Array {
    const parts: Uint8Array[] = [];
    for (let hit = search.next(bytes, 0); hit !== undefined && hit.at < limit; hit = search.next(bytes, hit.at + 1)) {
      if (hit.at >= covered) parts.push(bytes.subarray(covered, hit.at), hit.form.replacement);
      covered = Math.max(covered, hit.at + hit.form.bytes.length);
    }
    if (covered < limit) parts.push(bytes.subarray(covered, limit));
    held = Buffer.from(bytes.subarray(limit));
    covered = Math.max(0, covered - limit);
    return Buffer.concat(parts);
  }

  return {
    push(chunk) {
      const bytes = Buffer.concat([held, chunk]);
      // SECURITY: a chunk may end inside a secret, so the length of the longest secret minus one byte is held back.
      return redact(bytes, Math.max(0, bytes.length - longest + 1));
    },
    end: () => redact(held, held.length),
  };
}
