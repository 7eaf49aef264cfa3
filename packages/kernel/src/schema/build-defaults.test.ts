import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isJsonObject, isKernelError, type JsonObject, type JsonValue, parseJson } from "@narthex/contracts";
import { compileSchema } from "./compile-schema.ts";

function fill(schema: JsonObject, value: JsonValue): JsonValue {
  return compileSchema(schema).applyDefaults(value);
}

function parse(text: string): JsonObject {
  const value = parseJson(text);
  return isJsonObject(value) ? value : assert.fail();
}

describe("rejected defaults", () => {
  const refused: [string, JsonObject, RegExp][] = [
    ["does not satisfy its own schema", { properties: { a: { type: "string", default: 1 } } }, /does not satisfy/],
    [
      "is for a property named __proto__",
      parse('{"properties":{"__proto__":{"default":{"admin":true}}}}'),
      /__proto__/,
    ],
    [
      "reaches __proto__ through a reference",
      parse('{"$defs":{"d":{"default":{}}},"properties":{"__proto__":{"$ref":"#/$defs/d"}}}'),
      /__proto__/,
    ],
  ];
  for (const [name, schema, expected] of refused) {
    it(name, () => {
      assert.throws(
        () => compileSchema(schema),
        (error) => isKernelError(error) && error.code === "INVALID_DECLARATION" && expected.test(error.message),
      );
    });
  }
});

describe("applyDefaults", () => {
  const schema: JsonObject = {
    properties: {
      limit: { type: "integer", default: 10 },
      options: { type: "object", properties: { deep: { type: "boolean", default: true } }, default: {} },
      list: { items: { properties: { n: { type: "number", default: 0 } } } },
    },
  };

  it("leaves a complete value unchanged", () => {
    const value = { limit: 1, options: { deep: false }, list: [{ n: 1 }] };
    assert.equal(fill(schema, value), value);
    for (const other of [null, 1, "text", [1]]) assert.equal(fill(schema, other), other);
    const plain = { a: 1 };
    assert.equal(fill({ properties: { b: { type: "string" } } }, plain), plain);
  });

  it("does not change the caller's object", () => {
    const value = Object.freeze({ list: Object.freeze([Object.freeze({})]), other: Object.freeze({ kept: 1 }) });
    const filled = fill(schema, value as unknown as JsonValue);
    assert.deepEqual(filled, { limit: 10, options: { deep: true }, list: [{ n: 0 }], other: { kept: 1 } });
    assert.deepEqual(value, { list: [{}], other: { kept: 1 } });
  });

  it("gives each call its own copy of a default", () => {
    const compiled = compileSchema({ properties: { list: { type: "array", default: [1] } } });
    const first = compiled.applyDefaults({}) as { list: number[] };
    first.list.push(2);
    assert.deepEqual(compiled.applyDefaults({}), { list: [1] });
  });

  it("fills in null only where the field is absent", () => {
    const nullable: JsonObject = { properties: { a: { type: ["null", "number"], default: 1 } } };
    assert.deepEqual(fill(nullable, { a: null }), { a: null });
    assert.deepEqual(fill(nullable, {}), { a: 1 });
  });

  it("fills false, zero and empty defaults", () => {
    const falsy: JsonObject = {
      properties: { a: { default: false }, b: { default: 0 }, c: { default: "" }, d: { default: null } },
    };
    assert.deepEqual(fill(falsy, {}), { a: false, b: 0, c: "", d: null });
  });

  it("satisfies a required field that has a default", () => {
    const compiled = compileSchema({ properties: { a: { type: "string", default: "x" } }, required: ["a"] });
    assert.deepEqual(compiled.check(compiled.applyDefaults({})), []);
  });

  it("follows references, allOf, prefixes and additional properties", () => {
    const linked: JsonObject = {
      $defs: { counted: { properties: { n: { default: 0 } } }, size: { type: "number", default: 3 } },
      properties: { size: { $ref: "#/$defs/size" }, pair: { prefixItems: [{ $ref: "#/$defs/counted" }] } },
      allOf: [{ properties: { extra: { default: "e" } } }],
      additionalProperties: { $ref: "#/$defs/counted" },
    };
    assert.deepEqual(fill(linked, { pair: [{}], more: {} }), { size: 3, pair: [{ n: 0 }], more: { n: 0 }, extra: "e" });
  });

  it("follows a recursive schema as deep as the value", () => {
    const tree: JsonObject = { properties: { level: { default: 0 }, next: { $ref: "#" } } };
    assert.deepEqual(fill(tree, { next: { next: {} } }), { level: 0, next: { level: 0, next: { level: 0 } } });
  });

  it("leaves branches alone until their choice is known", () => {
    const union: JsonObject = { anyOf: [{ properties: { a: { default: 1 } } }, { properties: { b: { default: 2 } } }] };
    assert.deepEqual(fill(union, {}), {});
  });

  it("never writes to a prototype", () => {
    const value = parse('{"__proto__":{"x":1},"constructor":{"y":1}}');
    const filled = fill(
      { properties: { limit: { default: 1 } }, additionalProperties: { properties: { n: { default: 0 } } } },
      value,
    );
    assert.equal(Object.getPrototypeOf(filled), Object.prototype);
    assert.deepEqual(
      JSON.parse(JSON.stringify(filled)),
      JSON.parse('{"__proto__":{"x":1,"n":0},"constructor":{"y":1,"n":0},"limit":1}'),
    );
    assert.equal(({} as { n?: number }).n, undefined);
  });

  it("stops at a recursion that doubles with each level", () => {
    const branch = { properties: { next: { $ref: "#" }, n: { default: 0 } } };
    let value: JsonObject = {};
    for (let level = 0; level < 60; level++) value = { next: value };
    assert.throws(
      () => fill({ allOf: [branch, branch] }, value),
      (error) => isKernelError(error) && error.code === "INVALID_INPUT",
    );
  });
});
