import { isJsonObject, type JsonValue } from "@narthex/contracts";
import { allOf, type Check, type Meter } from "./check.ts";
import { escapePointer } from "./copy-schema.ts";
import { FORMATS } from "./formats.ts";
import { keywordOf } from "./keyword-of.ts";
import { checkArray } from "./keywords/array-keywords.ts";
import {
  type Branches,
  checkAnyOf,
  checkDependentSchemas,
  checkIf,
  checkNot,
  checkOneOf,
} from "./keywords/combinator-keywords.ts";
import { checkNumber } from "./keywords/number-keywords.ts";
import { checkObject } from "./keywords/object-keywords.ts";
import { checkString } from "./keywords/string-keywords.ts";
import { checkType, checkValues } from "./keywords/type-keywords.ts";
import { checkUnevaluated } from "./keywords/unevaluated-keywords.ts";
import { compilePattern, type Pattern } from "./pattern.ts";
import type { Problems } from "./problems.ts";
import { fail } from "./report.ts";
import type { References } from "./resolve-references.ts";
import type { SchemaDocument, Subschema } from "./schema-document.ts";

export interface CheckBuilder {
  /** Returns the check of one subschema, always the same function. */
  build(subschema: Subschema): Check;
}

/**
 * Creates a builder that compiles subschemas to functions. Adds rejected patterns to `problems`. Never generates code
 * from text.
 */
export function createCheckBuilder(
  document: SchemaDocument,
  references: References,
  meter: Meter,
  problems: Problems,
): CheckBuilder {
  return new Builder(document, references, meter, problems);
}

const OBJECT_KEYWORDS = [
  "required",
  "dependentRequired",
  "properties",
  "patternProperties",
  "additionalProperties",
  "propertyNames",
  "minProperties",
  "maxProperties",
];
const ARRAY_KEYWORDS = ["items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems"];

class Builder implements CheckBuilder {
  readonly #document: SchemaDocument;
  readonly #references: References;
  readonly #meter: Meter;
  readonly #problems: Problems;
  readonly #built = new Map<Subschema, Check>();

  constructor(document: SchemaDocument, references: References, meter: Meter, problems: Problems) {
    this.#document = document;
    this.#references = references;
    this.#meter = meter;
    this.#problems = problems;
  }

  build(subschema: Subschema): Check {
    const known = this.#built.get(subschema);
    if (known !== undefined) return known;
    // References can be recursive, so a build that is still running returns a function that delegates to the result.
    const later: { check?: Check } = {};
    this.#built.set(subschema, (value, place, seen) => later.check?.(value, place, seen) ?? false);
    later.check = this.#compile(subschema);
    this.#built.set(subschema, later.check);
    return later.check;
  }

  #compile(subschema: Subschema): Check {
    if (subschema.keywords === true) return () => true;
    if (subschema.keywords === false) {
      return (_value, place) => place !== undefined && fail(place, "not_allowed", "is not allowed here");
    }
    const meter = this.#meter;
    const others = this.#keywords(subschema);
    const unevaluated = this.#unevaluated(subschema, others);
    const type = keywordOf(subschema, "type");
    if (type === undefined) {
      return (value, place, seen) => {
        meter.spend(1);
        return unevaluated(value, place, seen);
      };
    }
    const typed = checkType(type);
    return (value, place, seen) => {
      meter.spend(1);
      // A value of the wrong type breaks only this rule; other violations would merely follow from it.
      return typed(value, place, seen) && unevaluated(value, place, seen);
    };
  }

  #keywords(subschema: Subschema): Check {
    const checks = [
      this.#values(subschema),
      this.#string(subschema),
      checkNumber({
        minimum: keywordOf(subschema, "minimum"),
        maximum: keywordOf(subschema, "maximum"),
        exclusiveMinimum: keywordOf(subschema, "exclusiveMinimum"),
        exclusiveMaximum: keywordOf(subschema, "exclusiveMaximum"),
        multipleOf: keywordOf(subschema, "multipleOf"),
      }),
      this.#object(subschema),
      this.#array(subschema),
      this.#reference(subschema),
      ...this.#combinators(subschema),
    ];
    return allOf(checks.filter((check) => check !== undefined));
  }

  #values(subschema: Subschema): Check | undefined {
    const allowed = keywordOf(subschema, "enum");
    const fixed = keywordOf(subschema, "const");
    const checks: Check[] = [];
    if (Array.isArray(allowed)) checks.push(checkValues(allowed, this.#meter));
    if (fixed !== undefined) checks.push(checkValues([fixed], this.#meter));
    return checks.length === 0 ? undefined : allOf(checks);
  }

  #string(subschema: Subschema): Check | undefined {
    const pattern = keywordOf(subschema, "pattern");
    const named = keywordOf(subschema, "format");
    const format = typeof named === "string" ? named : "";
    const test = FORMATS.get(format);
    return checkString(
      {
        minLength: count(keywordOf(subschema, "minLength"), 0),
        maxLength: count(keywordOf(subschema, "maxLength"), Number.POSITIVE_INFINITY),
        pattern: typeof pattern === "string" ? this.#pattern(pattern, `${subschema.location}/pattern`) : undefined,
        format: test === undefined ? undefined : [format, test],
      },
      this.#meter,
    );
  }

  #object(subschema: Subschema): Check | undefined {
    if (OBJECT_KEYWORDS.every((keyword) => keywordOf(subschema, keyword) === undefined)) return undefined;
    const patterns: [Pattern, Check][] = [];
    for (const [source, check] of this.#children(subschema, "patternProperties")) {
      const location = `${subschema.location}/patternProperties/${escapePointer(source)}`;
      const pattern = this.#pattern(source, location);
      if (pattern !== undefined) patterns.push([pattern, check]);
    }
    return checkObject(
      {
        required: texts(keywordOf(subschema, "required")),
        dependentRequired: new Map(entries(keywordOf(subschema, "dependentRequired")).map(([k, v]) => [k, texts(v)])),
        properties: this.#children(subschema, "properties"),
        patterns,
        rest: this.#child(subschema, "additionalProperties"),
        closed: keywordOf(subschema, "additionalProperties") === false,
        names: this.#child(subschema, "propertyNames"),
        minProperties: count(keywordOf(subschema, "minProperties"), 0),
        maxProperties: count(keywordOf(subschema, "maxProperties"), Number.POSITIVE_INFINITY),
      },
      this.#meter,
    );
  }

  #array(subschema: Subschema): Check | undefined {
    if (ARRAY_KEYWORDS.every((keyword) => keywordOf(subschema, keyword) === undefined)) return undefined;
    // Before 2020-12 a list of `items` was the prefix and `additionalItems` the rest; typebox still writes tuples so.
    const tuple = Array.isArray(keywordOf(subschema, "items"));
    const restKeyword = tuple ? "additionalItems" : "items";
    const contains = this.#child(subschema, "contains");
    return checkArray(
      {
        minItems: count(keywordOf(subschema, "minItems"), 0),
        maxItems: count(keywordOf(subschema, "maxItems"), Number.POSITIVE_INFINITY),
        uniqueItems: keywordOf(subschema, "uniqueItems") === true,
        prefix: this.#list(subschema, tuple ? "items" : "prefixItems"),
        rest: this.#child(subschema, restKeyword),
        closed: keywordOf(subschema, restKeyword) === false,
        contains: contains && {
          check: contains,
          least: count(keywordOf(subschema, "minContains"), 1),
          most: count(keywordOf(subschema, "maxContains"), Number.POSITIVE_INFINITY),
        },
      },
      this.#meter,
    );
  }

  #reference(subschema: Subschema): Check | undefined {
    const target = this.#references.get(subschema.location);
    if (target === undefined) return undefined;
    const meter = this.#meter;
    const check = this.build(target);
    return (value, place, seen) => {
      meter.enter();
      const ok = check(value, place, seen);
      meter.leave();
      return ok;
    };
  }

  #combinators(subschema: Subschema): (Check | undefined)[] {
    const all = this.#list(subschema, "allOf");
    const any = this.#branches(subschema, "anyOf");
    const one = this.#branches(subschema, "oneOf");
    const not = this.#child(subschema, "not");
    const condition = this.#child(subschema, "if");
    const dependents = this.#children(subschema, "dependentSchemas");
    return [
      all.length === 0 ? undefined : allOf(all),
      any && checkAnyOf(any),
      one && checkOneOf(one),
      not && checkNot(not),
      condition && checkIf(condition, this.#child(subschema, "then"), this.#child(subschema, "else")),
      dependents.size === 0 ? undefined : checkDependentSchemas(dependents),
    ];
  }

  #branches(subschema: Subschema, keyword: string): Branches | undefined {
    const branches = keywordOf(subschema, keyword);
    if (!Array.isArray(branches)) return undefined;
    const types = branches.map(onlyType);
    const named = types.filter((type) => type !== undefined);
    return { checks: this.#list(subschema, keyword), types: named.length === types.length ? named : undefined };
  }

  #unevaluated(subschema: Subschema, others: Check): Check {
    const properties = this.#child(subschema, "unevaluatedProperties");
    const items = this.#child(subschema, "unevaluatedItems");
    if (properties === undefined && items === undefined) return others;
    const closed = keywordOf(subschema, "unevaluatedProperties") === false;
    return checkUnevaluated(others, { properties, closed, items }, this.#meter);
  }

  #child(subschema: Subschema, keyword: string): Check | undefined {
    const child = this.#document.subschemas.get(`${subschema.location}/${keyword}`);
    return child && this.build(child);
  }

  #list(subschema: Subschema, keyword: string): Check[] {
    const list = keywordOf(subschema, keyword);
    if (!Array.isArray(list)) return [];
    return list.map((_, index) => this.#child(subschema, `${keyword}/${index}`)).filter((check) => check !== undefined);
  }

  #children(subschema: Subschema, keyword: string): Map<string, Check> {
    const children = new Map<string, Check>();
    for (const [key] of entries(keywordOf(subschema, keyword))) {
      const check = this.#child(subschema, `${keyword}/${escapePointer(key)}`);
      if (check !== undefined) children.set(key, check);
    }
    return children;
  }

  #pattern(source: string, location: string): Pattern | undefined {
    const pattern = compilePattern(source);
    if (!("problem" in pattern)) return pattern;
    this.#problems.add(location, "format", pattern.problem);
    return undefined;
  }
}

function count(value: JsonValue | undefined, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

function texts(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function entries(value: JsonValue | undefined): [string, JsonValue][] {
  return isJsonObject(value) ? Object.entries(value) : [];
}

/** The type that a branch names, if it has no other constraint. */
function onlyType(branch: JsonValue): string | undefined {
  if (!isJsonObject(branch) || typeof branch["type"] !== "string") return undefined;
  const annotations = ["type", "title", "description"];
  return Object.keys(branch).every((keyword) => annotations.includes(keyword)) ? branch["type"] : undefined;
}
