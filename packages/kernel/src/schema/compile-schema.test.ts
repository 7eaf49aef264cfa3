import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject, JsonValue } from "@narthex/contracts";
import { compileSchema } from "./compile-schema.ts";

/** The broken rules as `field rule`, in order of report. */
function broken(schema: JsonObject | boolean, value: JsonValue): string[] {
  return compileSchema(schema)
    .check(value)
    .map(({ field, rule }) => `${field} ${rule}`);
}

function messages(schema: JsonObject | boolean, value: JsonValue): string[] {
  return compileSchema(schema)
    .check(value)
    .map(({ message }) => message);
}

describe("the text of a violation", () => {
  const schema: JsonObject = {
    type: "object",
    properties: {
      path: { type: "string", minLength: 1, maxLength: 4 },
      count: { type: "integer", minimum: 1, maximum: 9 },
      mode: { enum: ["read", "write"] },
      list: { type: "array", maxItems: 2, uniqueItems: true, items: { type: "object", required: ["id"] } },
    },
    required: ["path", "count"],
    additionalProperties: false,
  };

  it("names every broken rule at once, each at its own field", () => {
    const value = { path: "far too long", mode: "delete", list: [{}, {}, 3], extra: 1 };
    assert.deepEqual(broken(schema, value), [
      "count required",
      "path max_length",
      "mode one_of",
      "list max_items",
      "list[0].id required",
      "list[1].id required",
      "list[2] type",
      "list[1] duplicate",
      "extra unknown_field",
    ]);
  });

  it("tells the reader how to correct the value", () => {
    assert.deepEqual(messages(schema, { count: 12, mode: "x", pth: 1 }), [
      "missing required field 'path'",
      "must be at most 9",
      'expected one of "read", "write"',
      "unknown field 'pth'; allowed: path, count, mode, list",
    ]);
    assert.deepEqual(messages(schema, { path: "", count: 1.5 }), ["must not be empty", "expected integer, got number"]);
  });

  it("calls the whole value $", () => {
    assert.deepEqual(broken(schema, [1]), ["$ type"]);
    assert.deepEqual(messages(schema, null), ["expected object, got null"]);
  });

  it("never repeats the value itself", () => {
    const text = JSON.stringify(
      compileSchema(schema).check({ path: "hunter2 hunter2", count: "hunter2", mode: "hunter2" }),
    );
    assert.doesNotMatch(text, /hunter2/);
  });

  it("quotes unusual keys, truncated and without invisible characters", () => {
    const closed: JsonObject = { additionalProperties: false };
    const [violation] = compileSchema(closed).check({ [`a\u202e.b${"x".repeat(200)}`]: 1 });
    assert.match(violation?.field ?? "", /^\$\["a\\u\{202e\}\.bx+\.\.\."\]$/);
    assert.ok((violation?.message.length ?? 0) < 140);
  });

  it("stops listing after 256", () => {
    const items = Array.from({ length: 5_000 }, () => 1);
    assert.equal(compileSchema({ items: { type: "string" } }).check(items).length, 256);
  });

  it("is the same empty list for every valid value", () => {
    const compiled = compileSchema(schema);
    assert.equal(compiled.check({ path: "a", count: 1 }), compiled.check({ path: "b", count: 2 }));
    assert.equal(compiled.check({ path: "a", count: 1 }).length, 0);
  });
});

describe("every parameter type", () => {
  const parameters = (type: JsonObject): JsonObject => ({
    type: "object",
    properties: { p: type },
    required: ["p"],
    additionalProperties: false,
  });
  const cases: [string, JsonObject, JsonValue[], JsonValue[]][] = [
    ["String", { type: "string" }, ["", "text"], [1, null, ["a"], {}]],
    ["Number", { type: "number" }, [0, -1.5, 1e300], ["1", true, null]],
    ["Integer", { type: "integer" }, [0, -0, 7, 1e20], [1.5, "1"]],
    ["Boolean", { type: "boolean" }, [true, false], [0, "true", null]],
    ["String with enum", { type: "string", enum: ["a", "b"] }, ["a", "b"], ["c", "A", ""]],
    [
      "Object, nested",
      {
        type: "object",
        properties: { inner: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } },
        required: ["inner"],
      },
      [{ inner: { n: 1 } }, { inner: { n: 1, m: 2 } }],
      [{}, { inner: {} }, { inner: { n: "1" } }, { inner: [] }],
    ],
    ["Array", { type: "array", items: { type: "number" } }, [[], [1, 2]], [["1"], [1, null], { 0: 1 }]],
    [
      "Array of arrays",
      { type: "array", items: { type: "array", items: { type: "boolean" } } },
      [[[true], []]],
      [[true], [["a"]]],
    ],
    ["OneOf", { oneOf: [{ type: "string" }, { type: "number" }] }, ["a", 1], [true, null, [], {}]],
    [
      "OneOf of objects",
      {
        oneOf: [
          { type: "object", properties: { url: { type: "string" } }, required: ["url"], additionalProperties: false },
          { type: "object", properties: { file: { type: "string" } }, required: ["file"], additionalProperties: false },
        ],
      },
      [{ url: "u" }, { file: "f" }],
      [{}, { url: 1 }, { url: "u", file: "f" }],
    ],
  ];
  for (const [name, type, valid, invalid] of cases) {
    it(`${name}: rejects other values and a missing one`, () => {
      const compiled = compileSchema(parameters(type));
      for (const value of invalid) assert.notEqual(compiled.check({ p: value }).length, 0, JSON.stringify(value));
      assert.deepEqual(
        compiled.check({}).map(({ field, rule }) => [field, rule]),
        [["p", "required"]],
      );
      for (const value of valid) assert.deepEqual(compiled.check({ p: value }), [], JSON.stringify(value));
    });
  }

  it("explains a union by its types, or by the closest shapes", () => {
    assert.deepEqual(messages({ oneOf: [{ type: "string" }, { type: "number" }] }, true), [
      "expected string or number, got boolean",
    ]);
    const shapes: JsonObject = {
      anyOf: [
        { type: "object", properties: { kind: { const: "a" }, n: { type: "number" } }, required: ["kind", "n"] },
        { type: "object", properties: { kind: { const: "b" }, s: { type: "string" } }, required: ["kind", "s"] },
        { type: "array" },
      ],
    };
    assert.deepEqual(messages(shapes, { kind: "b", n: 1 }), [
      "matches none of the 3 allowed shapes",
      "for shape 2: missing required field 's'",
    ]);
    assert.deepEqual(broken({ oneOf: [{ minimum: 1 }, { minimum: 2 }] }, 3), ["$ exclusive"]);
  });
});

describe("keywords", () => {
  const cases: [string, JsonObject | boolean, JsonValue, string[]][] = [
    ["false", false, 1, ["$ not_allowed"]],
    ["const", { const: { a: [1] } }, { a: [2] }, ["$ one_of"]],
    ["not", { not: { type: "null" } }, null, ["$ not_allowed"]],
    ["exclusiveMinimum", { exclusiveMinimum: 0 }, 0, ["$ range"]],
    ["exclusiveMaximum", { exclusiveMaximum: 1 }, 1, ["$ range"]],
    ["multipleOf", { multipleOf: 0.1 }, 0.25, ["$ multiple_of"]],
    ["minLength", { minLength: 2 }, "🐲", ["$ min_length"]],
    ["maxLength", { maxLength: 1 }, "🐲🐲", ["$ max_length"]],
    ["pattern", { pattern: "^a+$" }, "b", ["$ format"]],
    ["format", { format: "date" }, "2026-02-30", ["$ format"]],
    ["minItems", { minItems: 1 }, [], ["$ min_items"]],
    ["prefixItems", { prefixItems: [{ type: "string" }], items: false }, [1, 2], ["$ max_items", "$[0] type"]],
    [
      "a tuple as typebox writes it",
      { items: [{ type: "string" }], additionalItems: false },
      ["a", 1],
      ["$ max_items"],
    ],
    ["contains", { contains: { type: "string" }, minContains: 2 }, ["a", 1], ["$ contains"]],
    ["maxContains", { contains: true, maxContains: 1 }, [1, 2], ["$ contains"]],
    ["minProperties", { minProperties: 1 }, {}, ["$ min_items"]],
    ["maxProperties", { maxProperties: 0 }, { a: 1 }, ["$ max_items"]],
    ["propertyNames", { propertyNames: { maxLength: 2 } }, { abc: 1 }, ["abc max_length"]],
    ["patternProperties", { patternProperties: { "^x": { type: "number" } } }, { xa: "1", b: "1" }, ["xa type"]],
    ["additionalProperties", { properties: { a: true }, additionalProperties: { type: "null" } }, { b: 1 }, ["b type"]],
    ["dependentRequired", { dependentRequired: { a: ["b"] } }, { a: 1 }, ["b required"]],
    ["dependentSchemas", { dependentSchemas: { a: { properties: { b: false } } } }, { a: 1, b: 1 }, ["b not_allowed"]],
    ["then", { if: { required: ["a"] }, then: { required: ["b"] } }, { a: 1 }, ["b required"]],
    ["else", { if: { required: ["a"] }, else: { required: ["b"] } }, {}, ["b required"]],
    ["allOf", { allOf: [{ required: ["a"] }, { required: ["b"] }] }, {}, ["a required", "b required"]],
    ["$ref", { $defs: { n: { type: "number" } }, properties: { a: { $ref: "#/$defs/n" } } }, { a: "" }, ["a type"]],
    ["$anchor", { $defs: { n: { $anchor: "here", type: "number" } }, items: { $ref: "#here" } }, [""], ["$[0] type"]],
    [
      "unevaluatedProperties",
      { anyOf: [{ properties: { a: { const: 1 } }, required: ["a"] }, true], unevaluatedProperties: false },
      { a: 2 },
      ["a unknown_field"],
    ],
    ["unevaluatedItems", { prefixItems: [true], unevaluatedItems: { type: "string" } }, [1, 2], ["$[1] type"]],
  ];
  for (const [name, schema, value, expected] of cases) {
    it(`${name} is enforced`, () => assert.deepEqual(broken(schema, value), expected));
  }

  it("keeps no state between values", () => {
    const compiled = compileSchema({
      if: { required: ["x"] },
      then: { properties: { x: true, z: true } },
      unevaluatedProperties: false,
    });
    assert.notEqual(compiled.check({ z: 1 }).length, 0);
    assert.equal(compiled.check({ x: 1, z: 1 }).length, 0);
    assert.notEqual(compiled.check({ z: 1 }).length, 0);
  });

  it("follows a recursive reference as deep as the value", () => {
    const tree = compileSchema({
      $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } }, additionalProperties: false } },
      $ref: "#/$defs/node",
    });
    assert.deepEqual(tree.check({ next: { next: { next: {} } } }), []);
    assert.deepEqual(
      tree.check({ next: { next: { last: {} } } }).map(({ field }) => field),
      ["next.next.last"],
    );
  });

  it("lists the formats that it does not check", () => {
    const compiled = compileSchema({
      properties: { a: { format: "color" }, b: { format: "iban" }, c: { format: "uuid" } },
    });
    assert.deepEqual(compiled.describedFormats, ["color", "iban"]);
    assert.deepEqual(compiled.check({ a: "no colour at all", b: "" }), []);
  });

  it("accepts draft 07 where it agrees with 2020-12", () => {
    const $schema = "http://json-schema.org/draft-07/schema#";
    const compiled = compileSchema({
      $schema,
      definitions: { n: { type: "number" } },
      items: { $ref: "#/definitions/n" },
    });
    assert.notEqual(compiled.check(["a"]).length, 0);
    assert.throws(() => compileSchema({ $schema, properties: { a: { $ref: "#", minimum: 1 } } }), /draft 07 ignores/);
    assert.throws(() => compileSchema({ $schema, unevaluatedProperties: false }), /draft 07 has no/);
  });
});
