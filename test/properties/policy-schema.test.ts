import assert from "node:assert/strict";
import { test } from "node:test";
import { isKernelError, type JsonObject, type JsonValue } from "@narthex/contracts";
import { policySchema } from "@narthex/kernel";
import * as fc from "fast-check";
import { loadCedar } from "../../packages/host/src/policy/cedar-wasm.ts";
import { requestFor } from "../../packages/host/src/policy/test-policy.ts";
import { compileSchema } from "../../packages/kernel/src/schema/compile-schema.ts";

/** Names that are awkward for Cedar, for JavaScript or for both. */
const NAME = fc.oneof(
  fc.constantFrom(
    "a",
    "b",
    "type",
    "id",
    "has",
    "like",
    "__entity",
    "__extn",
    "constructor",
    "toString",
    "a-b",
    "",
    "ü😀",
  ),
  fc.string({ unit: "grapheme", maxLength: 8 }),
);

interface Sample {
  readonly schema: JsonObject;
  /** Values that fit it. */
  readonly value: fc.Arbitrary<JsonValue>;
}

const WHOLE = fc.integer({ min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER });
const TEXT = fc.string({ unit: "grapheme" });

const LEAF: fc.Arbitrary<Sample> = fc.constantFrom<Sample>(
  { schema: { type: "string" }, value: TEXT },
  { schema: { type: ["string"] }, value: TEXT },
  { schema: { type: "integer" }, value: WHOLE },
  { schema: { type: "boolean" }, value: fc.boolean() },
  { schema: { type: "number" }, value: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  { schema: { type: ["string", "null"] }, value: fc.oneof(TEXT, fc.constant(null)) },
  { schema: { type: "null" }, value: fc.constant(null) },
  { schema: { type: "string", default: "d" }, value: TEXT },
  { schema: { type: "array", items: { type: "integer" }, default: [1] }, value: fc.array(WHOLE, { maxLength: 2 }) },
  { schema: { anyOf: [{ type: "string" }, { type: "integer" }] }, value: fc.oneof(TEXT, WHOLE) },
  { schema: {}, value: fc.jsonValue() as fc.Arbitrary<JsonValue> },
  { schema: { type: "array", items: { type: "string" } }, value: fc.array(TEXT, { maxLength: 4 }) },
  {
    schema: { type: "array", items: { type: "integer" }, uniqueItems: true },
    value: fc.uniqueArray(WHOLE, { maxLength: 4 }),
  },
  { schema: { type: "array" }, value: fc.array(fc.jsonValue() as fc.Arbitrary<JsonValue>, { maxLength: 3 }) },
  {
    schema: { type: "array", prefixItems: [{ type: "integer" }], items: { type: "string" } },
    value: fc.tuple(WHOLE, TEXT),
  },
);

function objectOf(property: fc.Arbitrary<Sample>): fc.Arbitrary<Sample> {
  const named = fc.array(fc.tuple(NAME, property, fc.boolean()), { maxLength: 5 });
  return named.map((entries) => {
    const members = new Map(entries.map(([name, sample, isRequired]) => [name, { sample, isRequired }]));
    const requiredNames = [...members].filter(([, { isRequired }]) => isRequired).map(([name]) => name);
    const values = [...members].map(([name, { sample, isRequired }]) =>
      (isRequired ? sample.value : fc.option(sample.value, { nil: undefined })).map((value) => [name, value] as const),
    );
    return {
      schema: {
        type: "object",
        properties: Object.fromEntries([...members].map(([name, { sample }]) => [name, sample.schema])),
        required: requiredNames,
      },
      value: fc
        .tuple(...values)
        .map((pairs) => Object.fromEntries(pairs.filter(([, value]) => value !== undefined)) as JsonObject),
    };
  });
}

const { root: OBJECT } = fc.letrec<{ root: Sample; property: Sample }>((tie) => ({
  root: objectOf(tie("property")),
  property: fc.oneof({ maxDepth: 3, withCrossShrink: true }, LEAF, tie("root")),
}));

const SAMPLE = OBJECT.chain(({ schema, value }) => fc.tuple(fc.constant(schema), value));

test("for every schema and every input that fits it, the policy request fits the schema used for validation", async () => {
  const cedar = await loadCedar();
  let visible = 0;
  fc.assert(
    fc.property(SAMPLE, ([inputSchema, given]) => {
      const compiled = compileSchema(inputSchema);
      const input = compiled.applyDefaults(given);
      assert.deepEqual(compiled.check(input), [], "the sample itself is wrong");
      const schema = policySchema([{ declaration: { name: "t", capabilities: [], inputSchema } }]);
      const seen = schema.visibleInput("t", input);
      visible += Object.keys(seen).length;
      const { context } = requestFor("t", { input: seen });
      const answer = cedar.checkParseContext({
        context: schema.visibleContext("t", context),
        schema: schema.json as never,
        action: { type: "Action", id: "t" },
      });
      assert.deepEqual(answer, { type: "success" });
    }),
    { numRuns: 300 },
  );
  assert.ok(visible > 200, "the samples must show something");
});

test("for any input rules see what the schema declares, or no decision is made", async () => {
  const cedar = await loadCedar();
  let refused = 0;
  fc.assert(
    fc.property(SAMPLE, fc.jsonValue(), ([inputSchema, fitting], other) => {
      const schema = policySchema([{ declaration: { name: "t", capabilities: [], inputSchema } }]);
      // An input of its own, or one that fits with one member exchanged.
      const [name] = Object.keys(fitting as JsonObject);
      const input = name === undefined ? other : { ...(fitting as JsonObject), [name]: other };
      let seen: JsonObject;
      try {
        seen = schema.visibleInput("t", input as JsonValue);
      } catch (fault) {
        assert.ok(isKernelError(fault) && fault.code === "POLICY_ERROR");
        refused++;
        return;
      }
      const context = schema.visibleContext("t", requestFor("t", { input: seen }).context) as never;
      const action = { type: "Action", id: "t" };
      assert.deepEqual(cedar.checkParseContext({ context, schema: schema.json as never, action }), { type: "success" });
    }),
    { numRuns: 300 },
  );
  assert.ok(refused > 20, "some inputs must be refused");
});
