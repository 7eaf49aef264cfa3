import { isJsonObject, type JsonValue, utf8 } from "@narthex/contracts";
import type { Redactor } from "../tool/tool.ts";

/** Hides every secret in a text. Longer secrets go first, so that none survives as part of another. */
export function redactText(text: string, redactors: readonly Redactor[]): string {
  let redacted = text;
  for (const { secret, replacement } of longestFirst(redactors)) redacted = redacted.replaceAll(secret, replacement);
  return redacted;
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

export function createStreamRedactor(redactors: readonly Redactor[]): StreamRedactor {
  const secrets = longestFirst(redactors).map(({ secret, replacement }) => ({
    secret: Buffer.from(utf8(secret)),
    replacement: utf8(replacement),
  }));
  // SECURITY: a secret may be cut by a chunk's end, so as much as the longest one's length less one is held back.
  const holdBack = Math.max(0, (secrets[0]?.secret.length ?? 0) - 1);
  if (holdBack === 0 && secrets.length === 0) return { push: (chunk) => chunk, end: () => new Uint8Array(0) };
  let held: Buffer = Buffer.alloc(0);

  function replaceUpTo(bytes: Buffer, limit: number): { readonly safe: Uint8Array; readonly rest: Buffer } {
    const parts: Uint8Array[] = [];
    let at = 0;
    while (at < limit) {
      const hit = firstHit(bytes, at, secrets);
      if (hit === undefined || hit.at >= limit) break;
      parts.push(bytes.subarray(at, hit.at), hit.replacement);
      at = hit.at + hit.length;
    }
    const end = Math.max(at, limit);
    parts.push(bytes.subarray(at, end));
    return { safe: Buffer.concat(parts), rest: bytes.subarray(end) };
  }

  return {
    push(chunk) {
      const bytes = Buffer.concat([held, chunk]);
      const { safe, rest } = replaceUpTo(bytes, Math.max(0, bytes.length - holdBack));
      held = Buffer.from(rest);
      return safe;
    },
    end() {
      const { safe } = replaceUpTo(held, held.length);
      held = Buffer.alloc(0);
      return safe;
    },
  };
}

function firstHit(
  bytes: Buffer,
  from: number,
  secrets: readonly { readonly secret: Buffer; readonly replacement: Uint8Array }[],
): { readonly at: number; readonly length: number; readonly replacement: Uint8Array } | undefined {
  let best: { readonly at: number; readonly length: number; readonly replacement: Uint8Array } | undefined;
  for (const { secret, replacement } of secrets) {
    const at = bytes.indexOf(secret, from);
    if (at >= 0 && (best === undefined || at < best.at)) best = { at, length: secret.length, replacement };
  }
  return best;
}

function longestFirst(redactors: readonly Redactor[]): { readonly secret: string; readonly replacement: string }[] {
  return redactors
    .flatMap(({ secrets, replacement }) => secrets.map((secret) => ({ secret, replacement })))
    .filter(({ secret }) => secret.length > 0)
    .sort((left, right) => right.secret.length - left.secret.length);
}
