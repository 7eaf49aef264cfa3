import { type JsonObject, type JsonValue, KernelError, type Violation } from "@narthex/contracts";
import { boundExpansion } from "./bound-expansion.ts";
import { createCheckBuilder } from "./build-check.ts";
import { createDefaultsBuilder, defaultOf, type Fill } from "./build-defaults.ts";
import { type Check, Meter, TooComplex } from "./check.ts";
import type { CompiledSchema, CompileOptions } from "./compiled-schema.ts";
import { copySchema } from "./copy-schema.ts";
import { FORMATS } from "./formats.ts";
import { keywordOf } from "./keyword-of.ts";
import { Problems } from "./problems.ts";
import { Report, rootPlace } from "./report.ts";
import { type References, resolveReferences } from "./resolve-references.ts";
import { parseSchemaDocument, type SchemaDocument, type Subschema } from "./schema-document.ts";

const NO_VIOLATIONS: readonly Violation[] = Object.freeze([]);
const TOO_COMPLEX: Violation = Object.freeze({
  field: "$",
  rule: "too_complex",
  message: "checking this value against the schema takes too long: make it smaller",
});
const TOO_MUCH_TO_EXPLAIN: Violation = Object.freeze({
  field: "$",
  rule: "too_complex",
  message: "breaks the schema in more ways than can be listed",
});

/**
 * Compiles JSON Schema 2020-12 (and draft 07 where the two agree). Throws INVALID_DECLARATION with every problem:
 * remote or unresolvable references, unknown dialects, malformed keywords, patterns without a linear-time form, and
 * anything beyond `SCHEMA_LIMITS`.
 */
export function compileSchema(schema: JsonObject | boolean, options: CompileOptions = {}): CompiledSchema {
  const problems = new Problems(options.name ?? "schema");
  try {
    return compile(schema, problems);
  } catch (error) {
    // A chain of thousands of references overflows the stack before it reaches any other limit.
    if (!(error instanceof RangeError)) throw error;
    problems.add("", "too_complex", "references lead too deep");
    return problems.throwAll();
  }
}

function compile(schema: JsonObject | boolean, problems: Problems): CompiledSchema {
  const copy = copySchema(schema, problems);
  problems.throwIfAny();
  const document = parseSchemaDocument(copy ?? false, problems);
  problems.throwIfAny();
  const references = resolveReferences(document, problems);
  boundExpansion(document, references, problems);
  problems.throwIfAny();

  const meter = new Meter();
  const checks = createCheckBuilder(document, references, meter, problems);
  const check = checks.build(document.root);
  problems.throwIfAny();
  const defaults = createDefaultsBuilder(document, references, meter);
  const isValid = (subschema: Subschema, value: JsonValue): boolean => {
    meter.start();
    const filled = defaults.build(subschema)?.(value) ?? value;
    return checks.build(subschema)(filled, undefined, undefined);
  };
  refuseBadDefaults(document, references, isValid, problems);
  problems.throwIfAny();
  return new Compiled(check, defaults.build(document.root), meter, findDescribedFormats(document));
}

class Compiled implements CompiledSchema {
  readonly describedFormats: readonly string[];
  readonly #check: Check;
  readonly #fill: Fill | undefined;
  readonly #meter: Meter;

  constructor(check: Check, fill: Fill | undefined, meter: Meter, describedFormats: readonly string[]) {
    this.#check = check;
    this.#fill = fill;
    this.#meter = meter;
    this.describedFormats = describedFormats;
  }

  check(value: JsonValue): readonly Violation[] {
    try {
      this.#meter.start();
      if (this.#check(value, undefined, undefined)) return NO_VIOLATIONS;
    } catch (error) {
      if (isTooComplex(error)) return [TOO_COMPLEX];
      throw error;
    }
    return this.#explain(value);
  }

  #explain(value: JsonValue): readonly Violation[] {
    const report = new Report(this.#meter);
    try {
      this.#meter.start();
      this.#check(value, rootPlace(report), undefined);
      return report.violations;
    } catch (error) {
      if (isTooComplex(error)) return [...report.violations, TOO_MUCH_TO_EXPLAIN];
      throw error;
    }
  }

  applyDefaults(value: JsonValue): JsonValue {
    if (this.#fill === undefined) return value;
    try {
      this.#meter.start();
      return this.#fill(value);
    } catch (error) {
      if (!isTooComplex(error)) throw error;
      throw new KernelError("INVALID_INPUT", TOO_COMPLEX.message, { violations: [TOO_COMPLEX] });
    }
  }
}

/** A value built in this process may be nested deeper than any parsed one, so a check can overflow the stack. */
function isTooComplex(error: unknown): boolean {
  return error instanceof TooComplex || error instanceof RangeError;
}

/**
 * SECURITY: a default enters a call without a caller having written it, so it must be valid where it stands. Its name
 * must not be one that a later assignment would interpret as the object's prototype.
 */
function refuseBadDefaults(
  document: SchemaDocument,
  references: References,
  isValid: (subschema: Subschema, value: JsonValue) => boolean,
  problems: Problems,
): void {
  for (const subschema of document.subschemas.values()) {
    const value = defaultOf(subschema, references);
    if (value === undefined) continue;
    if (subschema.location.endsWith("/properties/__proto__")) {
      problems.add(subschema.location, "format", "a property named `__proto__` takes no default");
    }
    if (!isValid(subschema, value)) {
      problems.add(`${subschema.location}/default`, "format", "the default does not satisfy its own schema");
    }
  }
}

function findDescribedFormats(document: SchemaDocument): readonly string[] {
  const found = new Set<string>();
  for (const subschema of document.subschemas.values()) {
    const format = keywordOf(subschema, "format");
    if (typeof format === "string" && !FORMATS.has(format)) found.add(format);
  }
  return Object.freeze([...found].sort());
}
