import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isKernelError } from "@narthex/contracts";
import { BOUND_CEILINGS } from "./ceilings.ts";
import { defineTool } from "./define-tool.ts";
import { checkDeclaration, inspectDeclaration } from "./inspect-declaration.ts";
import { RESULT_TYPES, type Tool } from "./tool.ts";

const sound: Tool = {
  ...defineTool({ name: "tool", description: "does something", inputSchema: { type: "object" }, run: () => null }),
  tier: "read_only",
  determinism: "pure",
};

/** The broken rules of the sound tool with these changes, as `field rule`. */
function broken(changes: Record<string, unknown>): string[] {
  try {
    checkDeclaration({ ...sound, ...changes });
    return [];
  } catch (error) {
    assert.ok(isKernelError(error), String(error));
    assert.equal(error.code, "INVALID_DECLARATION");
    return error.violations.map(({ field, rule }) => `${field} ${rule}`);
  }
}

const effectful = { tier: "side_effecting", determinism: "external" };
const fsRead = { kind: "fs_read", prefixes: [] };

describe("a contradictory declaration", () => {
  const cases: [string, Record<string, unknown>, string[]][] = [
    ["no name", { name: "" }, ["name format"]],
    ["a name with capitals", { name: "Echo" }, ["name format"]],
    ["a name with a confusable letter", { name: "eсho" }, ["name format"]],
    ["a name with a path in it", { name: "a/b" }, ["name format"]],
    ["a name of dots", { name: ".." }, ["name format"]],
    ["a name of 65 characters", { name: "a".repeat(65) }, ["name format"]],
    ["a name with a trailing line end", { name: "echo\n" }, ["name format"]],
    ["an invalid version", { version: "1.0" }, ["version format"]],
    ["build metadata", { version: "1.0.0+x" }, ["version format"]],
    ["no description", { description: " \n" }, ["description required"]],
    ["a description too long", { description: "x".repeat(16_385) }, ["description max_length"]],
    ["a description with hidden text", { description: "adds\u{e0049}\u{e0067}" }, ["description format"]],
    ["foreign code that wants to run inline", { source: "mcp" }, ["isolation one_of"]],
    ["an unknown source", { source: "web" }, ["source one_of"]],
    ["an unknown effect", { effects: ["fly"] }, ["effects[0] one_of"]],
    [
      "an effect twice",
      { ...effectful, effects: ["fs_read", "fs_read"], capabilities: [fsRead] },
      ["effects[1] duplicate"],
    ],
    ["a pure tool with an effect", { effects: ["fs_read"], capabilities: [fsRead] }, ["determinism exclusive"]],
    [
      "a deterministic tool that asks the network",
      {
        ...effectful,
        determinism: "deterministic",
        effects: ["net_read"],
        capabilities: [{ kind: "net_read", hosts: [] }],
      },
      ["determinism exclusive"],
    ],
    ["an unknown tier", { tier: "root" }, ["tier one_of"]],
    ["an unknown determinism", { determinism: "often" }, ["determinism one_of"]],
    [
      "a time-out above the ceiling",
      { bounds: { timeoutMs: 3_600_001, maxOutputBytes: 1 } },
      ["bounds.timeoutMs range"],
    ],
    ["a time-out of zero", { bounds: { timeoutMs: 0, maxOutputBytes: 1 } }, ["bounds.timeoutMs range"]],
    ["no time-out", { bounds: { maxOutputBytes: 1 } }, ["bounds.timeoutMs required"]],
    ["no bounds", { bounds: undefined }, ["bounds required"]],
    ["an unknown bound", { bounds: { ...sound.bounds, maxLuck: 1 } }, ["bounds unknown_field"]],
    ["inline with a cpu bound", { bounds: { ...sound.bounds, maxCpuMs: 1 } }, ["bounds.maxCpuMs exclusive"]],
    [
      "inline with a memory bound",
      { bounds: { ...sound.bounds, maxMemoryBytes: 1 } },
      ["bounds.maxMemoryBytes exclusive"],
    ],
    ["inline with fuel", { bounds: { ...sound.bounds, maxFuel: 1 } }, ["bounds.maxFuel exclusive"]],
    [
      "a process with fuel",
      { source: "builtin", isolation: "process", bounds: { ...sound.bounds, maxFuel: 1 } },
      ["bounds.maxFuel exclusive"],
    ],
    ["no normalising rule", { normalise: undefined }, ["normalise required"]],
    ["a custom rule without its function", { normalise: "custom" }, ["normaliseCustom required"]],
    ["a function without the rule", { normaliseCustom: () => new Uint8Array() }, ["normaliseCustom exclusive"]],
    ["bytes normalised as JSON", { resultType: "binary" }, ["normalise exclusive"]],
    ["JSON normalised as bytes", { normalise: "binary" }, ["normalise exclusive"]],
    [
      "a stream normalised by a function",
      { resultType: "stream", normalise: "custom", normaliseCustom: () => new Uint8Array() },
      ["normalise exclusive"],
    ],
    ["an unknown result type", { resultType: "table" }, ["resultType one_of"]],
    [
      "bytes with a schema",
      { resultType: "binary", normalise: "binary", outputSchema: true },
      ["outputSchema exclusive"],
    ],
    [
      "an object whose schema says text",
      { resultType: "object", outputSchema: { type: "string" } },
      ["outputSchema.type exclusive"],
    ],
    ["a negative price", { price: -1 }, ["price range"]],
    ["a broken price", { price: 0.5 }, ["price range"]],
    ["a price that is no number", { price: Number.NaN }, ["price range"]],
    ["nothing to run", { run: undefined }, ["run required"]],
    ["a narrowing that is no function", { narrow: "less" }, ["narrow type"]],
    [
      "a redactor of the empty text",
      { redactors: [{ secrets: [""], replacement: "*" }] },
      ["redactors[0].secrets required"],
    ],
    ["effects that are no list", { effects: "none" }, ["effects required"]],
    ["capabilities that are none", { capabilities: [null] }, ["capabilities[0] format"]],
    [
      "a capability with a misspelt scope",
      { capabilities: [{ kind: "fs_read", prefix: ["/"] }] },
      ["capabilities[0].prefix unknown_field", "capabilities[0].prefixes required"],
    ],
    ["a scope that is no list", { capabilities: [{ kind: "exec", names: "ls" }] }, ["capabilities[0].names format"]],
    ["an unknown kind", { capabilities: [{ kind: "root" }] }, ["capabilities[0].kind one_of"]],
    ["redactors that are no list", { redactors: { secrets: ["a"] } }, ["redactors type"]],
    [
      "a redactor that is none",
      { redactors: [null] },
      ["redactors[0].secrets required", "redactors[0].replacement required"],
    ],
    [
      "a redactor with a misspelt replacement",
      { redactors: [{ secrets: ["a"], replace: "" }] },
      ["redactors[0].replacement required", "redactors[0] unknown_field"],
    ],
    ["actions that are no list", { action: () => "t_a", actions: "t_a" }, ["actions type"]],
    ["a flag that is none", { takesSecrets: "yes" }, ["takesSecrets type"]],
    ["an input schema that is none", { inputSchema: "object" }, ["inputSchema# type"]],
    ["no input schema", { inputSchema: undefined }, ["inputSchema# type"]],
  ];
  for (const [name, changes, expected] of cases) {
    it(`is rejected: ${name}`, () => assert.deepEqual(broken(changes), expected));
  }

  for (const effect of ["net_write", "fs_write", "db_write", "inference", "artifact"]) {
    it(`is rejected: read_only with the effect ${effect}`, () => {
      assert.ok(broken({ determinism: "external", effects: [effect] }).includes("tier exclusive"));
    });
  }

  const rights: [string, unknown][] = [
    ["net_read", { kind: "net_read", hosts: [] }],
    ["net_write", { kind: "net_write", hosts: [] }],
    ["fs_read", fsRead],
    ["fs_write", { kind: "fs_write", prefixes: [] }],
    ["db_read", { kind: "db_read", names: ["*"] }],
    ["db_write", { kind: "db_write", names: ["*"] }],
    ["process_spawn", { kind: "exec", names: ["*"] }],
    ["env_read", { kind: "env_read", names: ["*"] }],
    ["inference", { kind: "inference", models: [] }],
    ["artifact", { kind: "artifact", names: ["*"] }],
  ];
  for (const [effect, capability] of rights) {
    it(`is rejected: the effect ${effect} without its capability`, () => {
      assert.deepEqual(broken({ ...effectful, effects: [effect] }), ["capabilities required"]);
      assert.deepEqual(broken({ ...effectful, effects: [effect], capabilities: [{ kind: "clock" }] }), [
        "capabilities required",
      ]);
      assert.deepEqual(broken({ ...effectful, effects: [effect], capabilities: [capability] }), []);
    });
  }

  it("is rejected with every problem at once", () => {
    const changes = { name: "X", description: "", price: -1, effects: ["fs_write"], inputSchema: { type: "x" } };
    assert.deepEqual(broken(changes), [
      "name format",
      "description required",
      "tier exclusive",
      "determinism exclusive",
      "capabilities required",
      "price range",
      "inputSchema#/type type",
    ]);
  });

  it("is rejected with every bound above its ceiling", () => {
    const bounds = Object.fromEntries(Object.entries(BOUND_CEILINGS).map(([name, ceiling]) => [name, ceiling + 1]));
    assert.equal(broken({ source: "wasm", isolation: "wasm", bounds }).length, Object.keys(BOUND_CEILINGS).length);
    const most = { ...BOUND_CEILINGS };
    assert.deepEqual(broken({ source: "wasm", isolation: "wasm", bounds: most }), []);
  });

  it("is rejected without a crash if it is not a tool at all", () => {
    for (const nothing of [{}, { name: 1, effects: 1, capabilities: 1, bounds: 1, redactors: [] }]) {
      assert.throws(
        () => checkDeclaration(nothing as unknown as Tool),
        (error) => isKernelError(error),
      );
    }
  });
});

describe("a valid declaration", () => {
  it("may be read_only and start a process, like git STATUS", () => {
    const changes = {
      source: "builtin",
      isolation: "process",
      determinism: "external",
      effects: ["process_spawn", "fs_read"],
    };
    assert.deepEqual(broken({ ...changes, capabilities: [{ kind: "git", names: ["STATUS"] }, fsRead] }), []);
  });

  it("can have any kind of result", () => {
    for (const resultType of RESULT_TYPES) {
      const normalise = ["string", "binary", "stream"].includes(resultType) ? "binary" : "json";
      assert.deepEqual(broken({ resultType, normalise }), [], resultType);
    }
    const custom = { normalise: "custom", normaliseCustom: () => new Uint8Array() };
    for (const resultType of ["json", "object", "array", "string", "binary"]) {
      assert.deepEqual(broken({ resultType, ...custom }), [], resultType);
    }
  });

  it("checks output against its schema", () => {
    const schemas: [string, unknown, unknown, unknown][] = [
      ["json", { type: ["string", "null"] }, null, 1],
      ["object", { type: "object", required: ["a"] }, { a: 1 }, {}],
      ["object", { required: ["a"] }, { a: 1 }, {}],
      ["array", { type: "array", items: { type: "number" } }, [1], ["1"]],
      ["string", { type: "string", maxLength: 1 }, "a", "ab"],
      ["stream", { type: "string", pattern: "^ok" }, "ok then", "no"],
    ];
    for (const [resultType, outputSchema, valid, invalid] of schemas) {
      const normalise = resultType === "string" || resultType === "stream" ? "binary" : "json";
      const tool = { ...sound, resultType, outputSchema, normalise } as Tool;
      const compiled = inspectDeclaration(tool).outputSchema;
      assert.equal(compiled?.check(valid as null).length, 0, resultType);
      assert.notEqual(compiled?.check(invalid as null).length, 0, resultType);
    }
    assert.equal(inspectDeclaration(sound).outputSchema, undefined);
  });
});
