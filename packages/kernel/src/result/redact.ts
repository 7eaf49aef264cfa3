import { isJsonObject, type JsonValue, utf8 } from "@narthex/contracts";
import type { Redactor } from "../tool/tool.ts";

/** Hides every secret in a text. */
export function redactText(text: string, redactors: readonly Redactor[]): string {
  if (redactors.length === 0) return text;
  return Buffer.from(redactBytes(utf8(text), redactors)).toString();
}

/** Hides secrets in every string and key of a value. */
export function redactJson(value: JsonValue, redactors: readonly Redactor[]): JsonValue {
  if (redactors.length === 0) return value;
  if (typeof value === "string") return redactText(value, redactors);
  if (Array.isArray(value)) return value.map((item) => redactJson(item, redactors));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [redactText(key, redactors), redactJson(item, redactors)]),
  );
}

export function redactBytes(bytes: Uint8Array, redactors: readonly Redactor[]): Uint8Array {
  if (redactors.length === 0) return bytes;
  const stream = createStreamRedactor(redactors);
  return Buffer.concat([stream.push(bytes), stream.end()]);
}

/** Hides secrets in bytes that come in pieces cut anywhere. */
export interface StreamRedactor {
  /** What is safe to hand on; the rest is held back. */
  push(chunk: Uint8Array): Uint8Array;
  end(): Uint8Array;
}

interface Secret {
  readonly bytes: Buffer;
  readonly replacement: Uint8Array;
}

/**
 * Every byte of every secret is hidden. Secrets that overlap are hidden as one, under the replacement of the first: to
 * hide one and leave the rest of the other would give most of it away.
 */
export function createStreamRedactor(redactors: readonly Redactor[]): StreamRedactor {
  const secrets = secretsOf(redactors);
  const longest = secrets[0]?.bytes.length ?? 0;
  if (longest === 0) return { push: (chunk) => chunk, end: () => new Uint8Array(0) };
  let held: Buffer = Buffer.alloc(0);
  /** How many of the held bytes belong to a secret that is hidden already. */
  let covered = 0;

  /** Works through all secrets that begin before `limit`. */
  function redact(bytes: Buffer, limit: number): Uint8Array {
    const finder = createFinder(bytes, secrets);
    const parts: Uint8Array[] = [];
    for (let hit = finder.next(0); hit !== undefined && hit.at < limit; hit = finder.next(hit.at + 1)) {
      if (hit.at >= covered) parts.push(bytes.subarray(covered, hit.at), hit.replacement);
      covered = Math.max(covered, hit.at + hit.length);
    }
    if (covered < limit) parts.push(bytes.subarray(covered, limit));
    held = Buffer.from(bytes.subarray(limit));
    covered = Math.max(0, covered - limit);
    return Buffer.concat(parts);
  }

  return {
    push(chunk) {
      const bytes = Buffer.concat([held, chunk]);
      // SECURITY: a secret may be cut by a chunk's end, so as much as the longest one's length less one is held back.
      return redact(bytes, Math.max(0, bytes.length - longest + 1));
    },
    end: () => redact(held, held.length),
  };
}

interface Hit {
  readonly at: number;
  readonly length: number;
  readonly replacement: Uint8Array;
}

/** Finds secrets in order of place, the longest first where several begin. Looks for each only as far as it must. */
function createFinder(bytes: Buffer, secrets: readonly Secret[]): { next(from: number): Hit | undefined } {
  const places = secrets.map(() => -1);
  return {
    next(from) {
      let best: Hit | undefined;
      for (let i = 0; i < secrets.length; i++) {
        const secret = secrets[i];
        if (secret === undefined) continue;
        let at = places[i] ?? -1;
        if (at < from) {
          at = bytes.indexOf(secret.bytes, from);
          if (at === -1) at = Number.POSITIVE_INFINITY;
          places[i] = at;
        }
        if (at !== Number.POSITIVE_INFINITY && (best === undefined || at < best.at)) {
          best = { at, length: secret.bytes.length, replacement: secret.replacement };
        }
      }
      return best;
    },
  };
}

const prepared = new WeakMap<readonly Redactor[], readonly Secret[]>();

/** Longest first. */
function secretsOf(redactors: readonly Redactor[]): readonly Secret[] {
  const known = prepared.get(redactors);
  if (known !== undefined) return known;
  const secrets = redactors
    .flatMap(({ secrets, replacement }) =>
      secrets.map((secret) => ({ bytes: Buffer.from(utf8(secret)), replacement: utf8(replacement) })),
    )
    .filter(({ bytes }) => bytes.length > 0)
    .sort((left, right) => right.bytes.length - left.bytes.length);
  prepared.set(redactors, secrets);
  return secrets;
}
