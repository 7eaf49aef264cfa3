import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isJsonObject, isKernelError, type JsonObject, type JsonValue, parseJson } from "@narthex/contracts";
import { compileSchema } from "./compile-schema.ts";
import { SCHEMA_LIMITS } from "./schema-limits.ts";

function refuses(schema: unknown, expected: RegExp, rule?: string): void {
  assert.throws(
    () => compileSchema(schema as JsonObject, { name: "inputSchema" }),
    (error) => {
      assert.ok(isKernelError(error), String(error));
      assert.equal(error.code, "INVALID_DECLARATION");
      assert.match(error.message, expected);
      assert.ok(error.violations.every(({ field }) => field.startsWith("inputSchema#")));
      if (rule !== undefined) assert.ok(error.violations.some((violation) => violation.rule === rule));
      return true;
    },
  );
}

function nest(levels: number, wrap: (inner: JsonObject) => JsonObject): JsonObject {
  let schema: JsonObject = {};
  for (let level = 0; level < levels; level++) schema = wrap(schema);
  return schema;
}

describe("references in a hostile schema", () => {
  it("rejects references that require a fetch", () => {
    for (const $ref of [
      "http://169.254.169.254/x",
      "https://example.com/a#/b",
      "//host/x",
      "file:///etc/passwd",
      "other",
    ]) {
      refuses({ $ref }, /leaves this schema, and nothing is fetched/, "reference");
    }
    refuses({ $id: "https://example.com/a", items: { $ref: "b.json" } }, /nothing is fetched/);
  });

  it("rejects references to missing targets", () => {
    for (const $ref of ["#/$defs/none", "#nowhere", "#/properties/a/type", "#/%ZZ", "#/__proto__", "#/constructor"]) {
      refuses({ $ref, properties: { a: { type: "string" } } }, /names no subschema/);
    }
  });

  it("rejects cycles that never descend into the value", () => {
    refuses({ $ref: "#" }, /without descending/);
    refuses({ $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" }, /without descending/);
    for (const keyword of ["allOf", "anyOf", "oneOf"]) refuses({ [keyword]: [{ $ref: "#" }] }, /without descending/);
    for (const keyword of ["not", "if"]) refuses({ [keyword]: { $ref: "#" } }, /without descending/);
    refuses({ dependentSchemas: { a: { $ref: "#" } } }, /without descending/);
  });

  it("survives chains of thousands of references", () => {
    const chain = (link: ($ref: string) => JsonObject): JsonObject => {
      const $defs: JsonObject = { d0: {} };
      for (let index = 1; index < 2_000; index++) $defs[`d${index}`] = link(`#/$defs/d${index - 1}`);
      return { $defs, $ref: "#/$defs/d1999" };
    };
    for (const schema of [chain(($ref) => ({ $ref })), chain(($ref) => ({ items: { $ref } }))]) {
      try {
        compileSchema(schema).check([[[]]]);
      } catch (error) {
        assert.ok(isKernelError(error), String(error));
      }
    }
  });

  it("rejects dynamic and recursive references", () => {
    refuses({ $dynamicRef: "#a", $dynamicAnchor: "a" }, /`\$dynamicRef` is not supported/);
    refuses({ $recursiveRef: "#" }, /`\$recursiveRef` is not supported/);
  });

  it("rejects duplicate identifiers", () => {
    refuses({ $defs: { a: { $anchor: "x" }, b: { $anchor: "x" } } }, /taken/, "duplicate");
    refuses({ $defs: { a: { $id: "x" }, b: { $id: "x" } } }, /taken/, "duplicate");
  });
});

describe("the size of a hostile schema", () => {
  it("limits nesting", () => {
    refuses(
      nest(SCHEMA_LIMITS.depth + 1, (inner) => ({ items: inner })),
      /nested deeper/,
    );
    assert.deepEqual(compileSchema(nest(SCHEMA_LIMITS.depth, (inner) => ({ items: inner }))).check([]), []);
    refuses(
      nest(20_000, (inner) => ({ const: inner })),
      /nested deeper/,
    );
  });

  it("limits the number of subschemas, values and characters", () => {
    const properties = Object.fromEntries(Array.from({ length: 5_001 }, (_, index) => [`p${index}`, true]));
    refuses({ properties }, /more than 5000 subschemas/);
    refuses({ examples: Array.from({ length: 300_000 }, () => 0) }, /too large/);
    refuses({ description: "x".repeat(3_000_000), properties }, /too large/);
  });

  it("limits enums, all of them together", () => {
    const values = Array.from({ length: 10_001 }, (_, index) => index);
    refuses({ enum: values }, /more than 10000 enum values/, "max_items");
    refuses({ items: { enum: values.slice(0, 6_000) }, contains: { enum: values.slice(0, 6_000) } }, /enum values/);
    assert.deepEqual(compileSchema({ enum: values.slice(0, 10_000) }).check(9_999), []);
  });

  it("limits combinators: their branches, their nesting and their product", () => {
    refuses({ anyOf: Array.from({ length: 1_001 }, () => true) }, /more than 1000 branches/);
    refuses(
      nest(17, (inner) => ({ allOf: [inner] })),
      /nests more than 16 combinators/,
    );
    const $defs: JsonObject = { d0: { type: "object" } };
    for (let level = 1; level < 40; level++) {
      const $ref = `#/$defs/d${level - 1}`;
      $defs[`d${level}`] = { allOf: [{ $ref }, { $ref }] };
    }
    refuses({ $defs, $ref: "#/$defs/d39" }, /at once|combinators/, "too_complex");
  });

  it("limits patterns and rejects those without a linear form", () => {
    refuses({ pattern: "a".repeat(1_001) }, /1000 characters/);
    refuses({ pattern: "(a{100}){100}" }, /too large/);
    refuses({ pattern: "x{1000}".repeat(50) }, /too large/);
    for (const pattern of ["(?=a)", "(?!a)", "(?<=a)b", "(?<!a)b", "(a)\\1", "(?<n>a)\\k<n>", "(?i:a)"]) {
      refuses({ pattern }, /not supported/, "format");
      refuses({ patternProperties: { [pattern]: true } }, /not supported/, "format");
    }
    for (const pattern of ["(", "[", "a{2,1}", "\\"]) refuses({ pattern }, /not a pattern/);
  });
});

describe("keywords of the wrong shape", () => {
  const shapes: JsonObject[] = [
    { type: "strng" },
    { type: [] },
    { type: ["string", "string"] },
    { required: "a" },
    { required: ["a", "a"] },
    { properties: [] },
    { properties: { a: 1 } },
    { items: "x" },
    { minimum: "3" },
    { maxLength: -1 },
    { maxLength: 1.5 },
    { multipleOf: 0 },
    { enum: {} },
    { uniqueItems: 1 },
    { anyOf: [] },
    { allOf: {} },
    { additionalProperties: null },
    { pattern: 1 },
    { format: {} },
    { $ref: 1 },
    { $defs: { a: [] } },
    { dependentRequired: { a: "b" } },
    { dependencies: { a: ["b"] } },
  ];
  for (const schema of shapes) {
    it(`rejects ${JSON.stringify(schema)}`, () => refuses(schema, /must be|not supported/));
  }

  it("rejects unknown dialects, wherever they are named", () => {
    for (const $schema of ["http://json-schema.org/draft-04/schema#", "https://example.com/dialect", ""]) {
      refuses({ $schema }, /unknown dialect/, "one_of");
      refuses({ items: { $schema } }, /unknown dialect/, "one_of");
    }
  });

  it("rejects values that are not JSON", () => {
    for (const value of [undefined, 1, "text", null, [], () => true, new Date(), new Map(), Number.NaN])
      refuses(value, /./);
    refuses({ const: Number.POSITIVE_INFINITY }, /not finite/);
    refuses({ const: "\ud800" }, /surrogate/);
    refuses({ pattern: /a/ }, /plain objects/);
    refuses({ properties: { a: () => true } }, /not JSON/);
  });

  it("rejects descriptions with hidden text", () => {
    refuses({ properties: { a: { description: "a number\u{e0041}\u{e0042}" } } }, /invisible/);
    refuses({ title: "safe\u202etxt.exe" }, /invisible/);
  });

  it("lists every problem at once", () => {
    try {
      compileSchema({ type: "strng", properties: { a: { minLength: -1 }, b: { $dynamicRef: "#" } } });
      assert.fail("accepted");
    } catch (error) {
      assert.ok(isKernelError(error));
      assert.deepEqual(
        error.violations.map(({ field }) => field),
        ["schema#/type", "schema#/properties/a/minLength", "schema#/properties/b/$dynamicRef"],
      );
    }
  });
});

describe("names of inherited properties", () => {
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty"];
  const own = (name: string, value: JsonValue): JsonObject => {
    const parsed = parseJson(`{${JSON.stringify(name)}:${JSON.stringify(value)}}`);
    return isJsonObject(parsed) ? parsed : assert.fail();
  };

  it("are never found by inheritance", () => {
    for (const name of names) {
      const required = compileSchema({ required: [name] });
      assert.equal(required.check({}).length, 1, name);
      assert.equal(required.check(own(name, 1)).length, 0, name);
    }
  });

  it("are checked like any other property", () => {
    for (const name of names) {
      const schema = compileSchema({ properties: own(name, { type: "number" }), additionalProperties: false });
      assert.equal(schema.check(own(name, "text")).length, 1, name);
      assert.equal(schema.check(own(name, 1)).length, 0, name);
      assert.equal(schema.check({}).length, 0, name);
      assert.equal(compileSchema({ additionalProperties: false }).check(own(name, {})).length, 1, name);
    }
  });

  it("are compared as ordinary keys in const and enum", () => {
    const schema = compileSchema({ const: own("__proto__", { a: 1 }) });
    assert.equal(schema.check({}).length, 1);
    assert.equal(schema.check(own("__proto__", { a: 2 })).length, 1);
    assert.equal(schema.check(own("__proto__", { a: 1 })).length, 0);
  });
});

describe("the cost of a hostile value", () => {
  const tooComplex = (schema: JsonObject, value: JsonValue): void => {
    assert.deepEqual(
      compileSchema(schema)
        .check(value)
        .map(({ rule }) => rule),
      ["too_complex"],
    );
  };
  const deep = (levels: number): JsonValue => {
    let value: JsonObject = {};
    for (let level = 0; level < levels; level++) value = { next: value };
    return value;
  };

  it("evaluates at once a pattern that explodes in a backtracking engine", () => {
    for (const pattern of [
      "^(a+)+$",
      "^(a|a)*$",
      "^(a|aa)+$",
      "(x+x+)+y",
      "^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*$",
    ]) {
      const text = `${"a".repeat(28)}!`;
      assert.equal(compileSchema({ pattern }).check(text).length, 1, pattern);
      assert.equal(compileSchema({ pattern }).check("a".repeat(50_000).concat("!")).length, 1, pattern);
      const names = compileSchema({ patternProperties: { [pattern]: false }, additionalProperties: true });
      assert.equal(names.check({ [text]: 1 }).length, 0, pattern);
    }
  });

  it("terminates on a recursion that doubles with each level of the value", () => {
    const branch = { properties: { next: { $ref: "#" } } };
    tooComplex({ allOf: [branch, branch] }, deep(60));
    tooComplex(
      {
        anyOf: [
          { ...branch, required: ["no"] },
          { ...branch, required: ["never"] },
        ],
      },
      deep(60),
    );
    tooComplex({ oneOf: [branch, { ...branch, required: ["next"] }] }, deep(60));
  });

  it("terminates on values deeper than any parser allows", () => {
    tooComplex({ properties: { next: { $ref: "#" } } }, deep(5_000));
    const loop: JsonObject = {};
    loop["next"] = loop;
    tooComplex({ properties: { next: { $ref: "#" } } }, loop);
    tooComplex({ uniqueItems: true }, [deep(2_000)]);
  });

  it("terminates on many items times many branches", () => {
    const anyOf = Array.from({ length: 1_000 }, (_, index) => ({ const: index }));
    tooComplex(
      { items: { anyOf } },
      Array.from({ length: 20_000 }, () => 999),
    );
  });

  it("terminates on a large text times a large pattern", () => {
    tooComplex({ pattern: "(a.{50}b|b.{60}a|a.{70}c|c.{80}a)z$" }, "abcz".repeat(50_000));
  });

  it("finds duplicates among many items without comparing all pairs", () => {
    const items = Array.from({ length: 100_000 }, (_, index) => ({ index }));
    assert.deepEqual(compileSchema({ uniqueItems: true }).check(items), []);
    assert.equal(compileSchema({ uniqueItems: true }).check([...items, { index: 5 }]).length, 1);
  });

  it("rejects every value, and says why, when the schema contradicts itself", () => {
    const compiled = compileSchema({ allOf: [{ type: "string" }, { type: "number" }], minLength: 5, maxLength: 2 });
    for (const value of ["abc", 1, null]) assert.notEqual(compiled.check(value).length, 0);
  });

  it("allows other fields where additionalProperties is omitted, as the standard says", () => {
    assert.deepEqual(compileSchema({ properties: { a: { type: "string" } } }).check({ b: 1 }), []);
  });
});
