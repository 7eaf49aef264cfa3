import type { JsonObject, JsonValue } from "@narthex/contracts";
import type { Problems } from "./problems.ts";
import { SCHEMA_LIMITS } from "./schema-limits.ts";

/**
 * Returns a frozen copy of a schema as plain JSON, or undefined if it is not JSON or too large.
 *
 * SECURITY: this copy is what gets checked, hashed and compiled, so a caller who keeps the original, a getter or a
 * proxy cannot change a tool after it was accepted.
 */
export function copySchema(source: unknown, problems: Problems): JsonObject | boolean | undefined {
  const found = problems.count;
  const copy = new Copier(problems).copy(source, "", 0);
  if (problems.count > found) return undefined;
  if (typeof copy === "boolean") return copy;
  if (typeof copy === "object" && copy !== null && !Array.isArray(copy)) return copy;
  problems.add("", "type", "a schema is an object or a boolean");
  return undefined;
}

class Copier {
  readonly #problems: Problems;
  #values = 0;
  #characters = 0;

  constructor(problems: Problems) {
    this.#problems = problems;
  }

  copy(source: unknown, location: string, depth: number): JsonValue {
    if (this.#full(location, depth)) return null;
    if (typeof source === "string") return this.#text(source, location);
    if (typeof source === "boolean" || source === null) return source;
    if (typeof source === "number") return this.#number(source, location);
    if (Array.isArray(source)) {
      return Object.freeze(
        source.map((item, index) => this.copy(item, `${location}/${index}`, depth + 1)),
      ) as JsonValue;
    }
    if (typeof source === "object") return this.#object(source, location, depth);
    return this.#refuse(location, "type", `a ${typeof source} is not JSON`);
  }

  #object(source: object, location: string, depth: number): JsonValue {
    // typebox stores functions here that only its own engine calls; ignoring them would accept values they reject.
    if (Object.hasOwn(source, "~refine") || Object.hasOwn(source, "~codec")) {
      return this.#refuse(location, "format", "refinements and codecs are code: say it in JSON Schema");
    }
    const prototype: unknown = Object.getPrototypeOf(source);
    if (prototype !== Object.prototype && prototype !== null) {
      return this.#refuse(location, "type", "only plain objects are JSON");
    }
    const copy: JsonObject = {};
    for (const [key, value] of Object.entries(source)) {
      if (value === undefined) continue;
      const place = `${location}/${escapePointer(this.#text(key, location))}`;
      // A plain assignment to `__proto__` would change the copy's prototype instead of adding a property.
      Object.defineProperty(copy, key, { value: this.copy(value, place, depth + 1), enumerable: true });
    }
    return Object.freeze(copy);
  }

  #text(text: string, location: string): string {
    this.#characters += text.length;
    if (!text.isWellFormed()) this.#refuse(location, "format", "a text holds half a surrogate pair");
    return text;
  }

  #number(value: number, location: string): number {
    if (!Number.isFinite(value)) this.#refuse(location, "type", "a number is not finite");
    return value;
  }

  #full(location: string, depth: number): boolean {
    this.#values++;
    if (depth > SCHEMA_LIMITS.jsonDepth) {
      this.#refuse(location, "max_depth", `nested deeper than ${SCHEMA_LIMITS.jsonDepth} levels`);
      return true;
    }
    if (this.#values <= SCHEMA_LIMITS.jsonValues && this.#characters <= SCHEMA_LIMITS.jsonCharacters) return false;
    if (this.#values !== Number.POSITIVE_INFINITY) this.#refuse("", "max_length", "the schema is too large");
    this.#values = Number.POSITIVE_INFINITY;
    return true;
  }

  #refuse(location: string, rule: string, message: string): null {
    this.#problems.add(location, rule, message);
    return null;
  }
}

export function escapePointer(key: string): string {
  return key.includes("~") || key.includes("/") ? key.replaceAll("~", "~0").replaceAll("/", "~1") : key;
}
