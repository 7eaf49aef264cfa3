import { canonicalJson, type JsonValue } from "@narthex/contracts";

/** Of inputs that somebody still holds: those of open questions, which are looked at again and again. */
const cache = new WeakMap<object, string>();

/**
 * The canonical JSON of an input that nobody changes any more.
 *
 * SECURITY: an agent may have megabytes of it waiting for a person, and everybody who looks would make it anew.
 */
export function cachedCanonicalJson(input: JsonValue): string {
  if (typeof input !== "object" || input === null) return canonicalJson(input);
  const text = cache.get(input) ?? canonicalJson(input);
  cache.set(input, text);
  return text;
}
