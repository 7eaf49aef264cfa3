import { canonicalJson, type JsonValue } from "@narthex/contracts";

/** Entries live as long as their inputs: those of pending approvals, which are read again and again. */
const cache = new WeakMap<object, string>();

/**
 * Returns the canonical JSON of an input that does not change any more.
 *
 * SECURITY: an agent may have megabytes of input waiting for an approval, and every viewer would otherwise encode it
 * again.
 */
export function cachedCanonicalJson(input: JsonValue): string {
  if (typeof input !== "object" || input === null) return canonicalJson(input);
  const text = cache.get(input) ?? canonicalJson(input);
  cache.set(input, text);
  return text;
}
