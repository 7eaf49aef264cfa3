import type { JsonObject, JsonValue } from "@narthex/contracts";
import fc from "fast-check";

const KEYS = ["a", "b", "c"];
const key = fc.constantFrom(...KEYS);
const scalar: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom<JsonValue>(null, true, false, "", "a", "ab", "abc", "🐲"),
  fc.integer({ min: -2, max: 4 }),
  fc.constantFrom(0.5, 1.5),
);
/** Values that may or may not satisfy such schemas. */
export const { value: arbitraryInstance } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(key, tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
}));
const type = fc.constantFrom("null", "boolean", "integer", "number", "string", "array", "object");
const count = fc.integer({ min: 0, max: 3 });
/** Schemas of limited depth, with the keywords that every implementation supports, few names and small numbers. */
export const arbitrarySchema: fc.Memo<JsonObject | boolean> = fc.memo((depth) => {
  if (depth <= 1) return fc.oneof(fc.boolean(), pick(leafKeywords));
  const inner = arbitrarySchema(depth - 1);
  const many = fc.array(inner, { minLength: 1, maxLength: 3 });
  const named = (names: fc.Arbitrary<string>) => fc.dictionary(names, inner, { maxKeys: 2, noNullPrototype: true });
  return pick({
    ...leafKeywords,
    properties: named(key),
    patternProperties: named(fc.constantFrom("^a", "[bc]")),
    additionalProperties: inner,
    propertyNames: inner,
    items: inner,
    prefixItems: many,
    contains: inner,
    allOf: many,
    anyOf: many,
    oneOf: many,
    not: inner,
    if: inner,
    then: inner,
    else: inner,
    dependentSchemas: named(key),
  });
});
const leafKeywords: Record<string, fc.Arbitrary<JsonValue>> = {
  type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
  enum: fc.array(scalar, { minLength: 1, maxLength: 3 }),
  const: scalar,
  minimum: count,
  exclusiveMaximum: count,
  minLength: count,
  maxLength: count,
  minItems: count,
  maxItems: count,
  uniqueItems: fc.boolean(),
  minProperties: count,
  maxProperties: count,
  pattern: fc.constantFrom("^a", "b$", "^[ab]*$", "(a|b)c"),
  required: fc.uniqueArray(key, { maxLength: 2 }),
  dependentRequired: fc.dictionary(key, fc.uniqueArray(key, { maxLength: 2 }), { maxKeys: 2, noNullPrototype: true }),
};

/** A schema with one to four of the keywords. */
function pick(keywords: Record<string, fc.Arbitrary<JsonValue>>): fc.Arbitrary<JsonObject> {
  return fc
    .uniqueArray(fc.constantFrom(...Object.keys(keywords)), { minLength: 1, maxLength: 4 })
    .chain((names) =>
      fc.tuple(...names.map((name) => fc.tuple(fc.constant(name), keywords[name] ?? fc.constant(true)))),
    )
    .map((entries) => Object.fromEntries(entries));
}
