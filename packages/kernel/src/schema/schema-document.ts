import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import { escapePointer } from "./copy-schema.ts";
import { findShapeProblem, KEYWORDS, type KeywordShape } from "./keyword-shapes.ts";
import { printable } from "./printable.ts";
import type { Problems } from "./problems.ts";
import { SCHEMA_LIMITS } from "./schema-limits.ts";

/** One schema inside a document, by its location. */
export interface Subschema {
  /** A JSON pointer; the empty string is the root. */
  readonly location: string;
  readonly keywords: JsonObject | boolean;
  /** Base URI: that of the nearest schema with an `$id`, or the root's. */
  readonly base: string;
}

/** A schema and all its subschemas. The value of every keyword has the right shape. */
export interface SchemaDocument {
  readonly root: Subschema;
  /** By location; the root first. */
  readonly subschemas: ReadonlyMap<string, Subschema>;
}

const DIALECTS: ReadonlySet<string> = new Set([
  "https://json-schema.org/draft/2020-12/schema",
  "https://json-schema.org/draft/2020-12/schema#",
]);
/** Most servers still name this dialect. It is supported as far as it agrees with 2020-12. */
const DRAFT_07: ReadonlySet<string> = new Set([
  "http://json-schema.org/draft-07/schema#",
  "http://json-schema.org/draft-07/schema",
  "https://json-schema.org/draft-07/schema#",
  "https://json-schema.org/draft-07/schema",
]);
const AFTER_DRAFT_07 = [
  "prefixItems",
  "unevaluatedItems",
  "unevaluatedProperties",
  "dependentRequired",
  "dependentSchemas",
  "minContains",
  "maxContains",
  "$anchor",
];
/** Keywords allowed beside a `$ref` in draft 07, where everything beside it is ignored. */
const ANNOTATIONS: ReadonlySet<string> = new Set(["$ref", "title", "description", "default", "examples", "$comment"]);
/** Base URI for resolving the references of every document; never fetched. */
const ROOT_BASE = "schema:/";
/**
 * Bidi controls, tag characters, zero-width spaces and control characters: text that models read and people do not see.
 */
const HIDDEN_TEXT = /(?![\t\n\r])[\p{Cc}\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u;

/** Walks a copied schema once and adds all problems found to `problems`. */
export function parseSchemaDocument(schema: JsonObject | boolean, problems: Problems): SchemaDocument {
  const walker = new Walker(problems, isJsonObject(schema) && isDraft07(schema["$schema"]));
  const root = walker.visit(schema, "", ROOT_BASE, 0);
  return { root, subschemas: walker.subschemas };
}

function isDraft07(dialect: JsonValue | undefined): boolean {
  return typeof dialect === "string" && DRAFT_07.has(dialect);
}

/** Whether a text contains characters that people cannot see. */
export function hasHiddenText(text: string): boolean {
  return HIDDEN_TEXT.test(text);
}

class Walker {
  readonly subschemas = new Map<string, Subschema>();
  readonly #problems: Problems;
  readonly #draft07: boolean;
  #enumValues = 0;
  #branches = 0;

  constructor(problems: Problems, draft07: boolean) {
    this.#problems = problems;
    this.#draft07 = draft07;
  }

  visit(schema: JsonObject | boolean, location: string, parentBase: string, depth: number): Subschema {
    const base = typeof schema === "boolean" ? parentBase : this.#baseOf(schema, location, parentBase);
    const subschema: Subschema = { location, keywords: schema, base };
    this.subschemas.set(location, subschema);
    if (this.subschemas.size === SCHEMA_LIMITS.subschemas + 1) {
      this.#problems.add("", "max_items", `more than ${SCHEMA_LIMITS.subschemas} subschemas`);
    }
    if (depth > SCHEMA_LIMITS.depth) {
      this.#problems.add(location, "max_depth", `nested deeper than ${SCHEMA_LIMITS.depth} subschemas`);
    } else if (typeof schema !== "boolean" && this.subschemas.size <= SCHEMA_LIMITS.subschemas) {
      this.#visitKeywords(schema, location, base, depth);
    }
    return subschema;
  }

  #visitKeywords(schema: JsonObject, location: string, base: string, depth: number): void {
    for (const [keyword, value] of Object.entries(schema)) {
      const shape = KEYWORDS.get(keyword);
      if (shape === undefined) continue;
      const place = `${location}/${keyword}`;
      const problem = findShapeProblem(shape, value);
      if (problem !== undefined) {
        this.#problems.add(place, shape === "refused" ? "format" : "type", `\`${keyword}\` ${problem}`);
        continue;
      }
      this.#count(keyword, value, place);
      for (const [child, childPlace] of childSchemas(shape, value, place)) {
        this.visit(child, childPlace, base, depth + 1);
      }
    }
    if (this.#draft07) this.#compareDrafts(schema, location);
  }

  #count(keyword: string, value: JsonValue, place: string): void {
    if (typeof value === "string") this.#read(keyword, value, place);
    if (!Array.isArray(value)) return;
    if (keyword === "enum") {
      this.#enumValues += value.length;
      if (this.#enumValues > SCHEMA_LIMITS.enumValues) {
        this.#problems.add(place, "max_items", `more than ${SCHEMA_LIMITS.enumValues} enum values`);
      }
    } else if (keyword === "anyOf" || keyword === "oneOf" || keyword === "allOf") {
      this.#branches += value.length;
      if (this.#branches > SCHEMA_LIMITS.branches) {
        this.#problems.add(place, "max_items", `more than ${SCHEMA_LIMITS.branches} branches of combinators`);
      }
    }
  }

  #read(keyword: string, text: string, place: string): void {
    if (keyword === "$schema" && !DIALECTS.has(text) && !DRAFT_07.has(text)) {
      this.#problems.add(place, "one_of", `unknown dialect \`${printable(text)}\`; write JSON Schema 2020-12`);
    } else if ((keyword === "description" || keyword === "title") && hasHiddenText(text)) {
      this.#problems.add(place, "format", "the text holds invisible characters");
    }
  }

  #compareDrafts(schema: JsonObject, location: string): void {
    for (const keyword of AFTER_DRAFT_07) {
      if (!Object.hasOwn(schema, keyword)) continue;
      this.#problems.add(
        `${location}/${keyword}`,
        "format",
        `draft 07 has no \`${keyword}\`: declare 2020-12 to use it`,
      );
    }
    if (!Object.hasOwn(schema, "$ref")) return;
    for (const keyword of Object.keys(schema)) {
      if (ANNOTATIONS.has(keyword) || !KEYWORDS.has(keyword)) continue;
      this.#problems.add(`${location}/${keyword}`, "exclusive", `draft 07 ignores \`${keyword}\` beside \`$ref\``);
    }
  }

  #baseOf(schema: JsonObject, location: string, parent: string): string {
    const id = Object.hasOwn(schema, "$id") ? schema["$id"] : undefined;
    if (typeof id !== "string") return parent;
    const base = URL.parse(id, parent);
    if (base !== null && base.hash === "") return base.href;
    this.#problems.add(`${location}/$id`, "format", "`$id` must be a URI without a fragment");
    return parent;
  }
}

function* childSchemas(
  shape: KeywordShape,
  value: JsonValue,
  place: string,
): Generator<[JsonObject | boolean, string]> {
  if (shape !== "schema" && shape !== "schemas" && shape !== "schema_map" && shape !== "schema_or_schemas") return;
  if (typeof value === "boolean") yield [value, place];
  else if (Array.isArray(value)) {
    for (const [index, child] of value.entries()) yield* childSchemas("schema", child, `${place}/${index}`);
  } else if (isJsonObject(value)) {
    if (shape !== "schema_map") yield [value, place];
    else {
      for (const [key, child] of Object.entries(value)) {
        yield* childSchemas("schema", child, `${place}/${escapePointer(key)}`);
      }
    }
  }
}
