import { isJsonObject, type JsonArray, type JsonObject, type JsonValue } from "@narthex/contracts";
import { isObject, type Meter } from "./check.ts";
import { escapePointer } from "./copy-schema.ts";
import { keywordOf } from "./keyword-of.ts";
import type { References } from "./resolve-references.ts";
import type { SchemaDocument, Subschema } from "./schema-document.ts";

/** Adds absent defaults to a value. Returns the same value, unmodified, if there is nothing to add. */
export type Fill = (value: JsonValue) => JsonValue;

export interface DefaultsBuilder {
  /** Undefined if no default can apply anywhere in the value. */
  build(subschema: Subschema): Fill | undefined;
}

export function createDefaultsBuilder(document: SchemaDocument, references: References, meter: Meter): DefaultsBuilder {
  const any = [...document.subschemas.values()].some((subschema) => keywordOf(subschema, "default") !== undefined);
  return any ? new Builder(document, references, meter) : { build: () => undefined };
}

/** The default of a property: its own, or that of the schema it refers to. */
export function defaultOf(subschema: Subschema, references: References): JsonValue | undefined {
  const own = keywordOf(subschema, "default");
  if (own !== undefined) return own;
  const target = references.get(subschema.location);
  return target === undefined ? undefined : defaultOf(target, references);
}

class Builder implements DefaultsBuilder {
  readonly #document: SchemaDocument;
  readonly #references: References;
  readonly #meter: Meter;
  readonly #built = new Map<Subschema, Fill | undefined>();

  constructor(document: SchemaDocument, references: References, meter: Meter) {
    this.#document = document;
    this.#references = references;
    this.#meter = meter;
  }

  build(subschema: Subschema): Fill | undefined {
    if (this.#built.has(subschema)) return this.#built.get(subschema);
    const later: { fill?: Fill | undefined } = {};
    this.#built.set(subschema, (value) => later.fill?.(value) ?? value);
    later.fill = this.#compile(subschema);
    this.#built.set(subschema, later.fill);
    return later.fill;
  }

  #compile(subschema: Subschema): Fill | undefined {
    const target = this.#references.get(subschema.location);
    const parts = [
      this.#object(subschema),
      this.#array(subschema),
      target && this.#follow(target),
      ...this.#list(subschema, "allOf"),
    ].filter((part) => part !== undefined);
    const [first, second] = parts;
    if (second === undefined) return first;
    return (value) => parts.reduce((filled, part) => part(filled), value);
  }

  #follow(target: Subschema): Fill | undefined {
    const fill = this.build(target);
    if (fill === undefined) return undefined;
    const meter = this.#meter;
    return (value) => {
      meter.enter();
      const filled = fill(value);
      meter.leave();
      return filled;
    };
  }

  #object(subschema: Subschema): Fill | undefined {
    const defaults: [string, JsonValue][] = [];
    const fills = new Map<string, Fill>();
    const properties = keywordOf(subschema, "properties");
    for (const name of isJsonObject(properties) ? Object.keys(properties) : []) {
      const child = this.#document.subschemas.get(`${subschema.location}/properties/${escapePointer(name)}`);
      if (child === undefined) continue;
      const value = defaultOf(child, this.#references);
      if (value !== undefined) defaults.push([name, value]);
      const fill = this.build(child);
      if (fill !== undefined) fills.set(name, fill);
    }
    const rest = this.#child(subschema, "additionalProperties");
    const known = new Set(isJsonObject(properties) ? Object.keys(properties) : []);
    if (defaults.length === 0 && fills.size === 0 && rest === undefined) return undefined;
    const meter = this.#meter;
    return (value) => {
      if (!isObject(value)) return value;
      meter.spend(1 + defaults.length + fills.size);
      let filled = addDefaults(value, defaults);
      for (const [name, fill] of fills) filled = fillProperty(filled, value, name, fill);
      if (rest !== undefined) {
        for (const name of Object.keys(value)) if (!known.has(name)) filled = fillProperty(filled, value, name, rest);
      }
      return filled;
    };
  }

  #array(subschema: Subschema): Fill | undefined {
    const tuple = Array.isArray(keywordOf(subschema, "items"));
    const rest = this.#child(subschema, tuple ? "additionalItems" : "items");
    const prefix = this.#list(subschema, tuple ? "items" : "prefixItems");
    if (rest === undefined && prefix.every((fill) => fill === undefined)) return undefined;
    const meter = this.#meter;
    return (value) => {
      if (!Array.isArray(value)) return value;
      meter.spend(value.length);
      let filled: JsonArray | undefined;
      for (const [index, item] of value.entries()) {
        const fill = index < prefix.length ? prefix[index] : rest;
        const next = fill === undefined ? item : fill(item);
        if (next === item) continue;
        filled ??= [...value];
        filled[index] = next;
      }
      return filled ?? value;
    };
  }

  #child(subschema: Subschema, keyword: string): Fill | undefined {
    const child = this.#document.subschemas.get(`${subschema.location}/${keyword}`);
    return child && this.build(child);
  }

  #list(subschema: Subschema, keyword: string): (Fill | undefined)[] {
    const list = keywordOf(subschema, keyword);
    return Array.isArray(list) ? list.map((_, index) => this.#child(subschema, `${keyword}/${index}`)) : [];
  }
}

function addDefaults(value: JsonObject, defaults: readonly [string, JsonValue][]): JsonObject {
  let filled: JsonObject | undefined;
  for (const [name, fallback] of defaults) {
    if (Object.hasOwn(value, name)) continue;
    // Spreading and assigning an own name never calls a setter; a default for `__proto__` has been rejected before.
    filled ??= { ...value };
    filled[name] = thaw(fallback);
  }
  return filled ?? value;
}

/** `filled` is either the caller's `original` or a copy of it that may be modified. */
function fillProperty(filled: JsonObject, original: JsonObject, name: string, fill: Fill): JsonObject {
  if (!Object.hasOwn(filled, name)) return filled;
  const before = filled[name];
  const after = before === undefined ? undefined : fill(before);
  if (after === undefined || after === before) return filled;
  const copy = filled === original ? { ...original } : filled;
  copy[name] = after;
  return copy;
}

/** Clones a default: the schema's own copy is frozen, and a tool may modify its input. */
function thaw(value: JsonValue): JsonValue {
  return typeof value === "object" && value !== null ? structuredClone(value) : value;
}
