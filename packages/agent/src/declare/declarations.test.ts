import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type Anthropic from "@anthropic-ai/sdk";
import type { ToolListUnion } from "@google/genai";
import type { Tool as McpTool } from "@modelcontextprotocol/client";
import { isJsonObject, type JsonObject, type JsonValue, KernelError } from "@narthex/contracts";
import { defineTool } from "@narthex/kernel";
import { createTestKernel, createTestPolicy, echoTool } from "@narthex/testkit";
import { asSchema, type ToolSet } from "ai";
import * as fc from "fast-check";
import type OpenAI from "openai";
import { toAiSdkTools } from "./ai-sdk-tools.ts";
import { toAnthropicTools } from "./anthropic-tools.ts";
import { MAX_PARAMETERS } from "./bound-parameters.ts";
import { declareTools } from "./declare-tools.ts";
import { toGeminiTools } from "./gemini-tools.ts";
import { toMcpTools } from "./mcp-tools.ts";
import { toOpenaiChatTools, toOpenaiResponsesTools } from "./openai-tools.ts";
import { createWireNames } from "./wire-names.ts";

const READ = {
  name: "file_read",
  description: "Reads a file.",
  inputSchema: {
    type: "object",
    properties: { path: { type: "string", minLength: 1 }, limit: { type: "integer" } },
    required: ["path"],
    additionalProperties: false,
  },
};
const STRICT = {
  name: "say",
  description: "Says a text.",
  inputSchema: {
    type: "object",
    properties: { text: { type: "string" }, to: { type: ["string", "null"] } },
    required: ["text", "to"],
    additionalProperties: false,
  },
};

function declared(inputSchema: JsonObject | boolean, name = "tool") {
  const tools = declareTools([{ name, description: "Does it.", inputSchema }]);
  const [decl] = tools.decls;
  const tool = tools.find(decl?.name ?? "");
  return tool ?? assert.fail();
}

/** Every object in a schema, wherever it stands. */
function* objectsIn(value: JsonValue): Generator<JsonObject> {
  if (typeof value !== "object" || value === null) return;
  if (isJsonObject(value)) yield value;
  for (const item of Object.values(value)) yield* objectsIn(item);
}

const other = defineTool({
  name: "other",
  description: "a",
  inputSchema: true,
  tier: "read_only",
  run: () => null,
});

describe("the neutral declaration", () => {
  test("is name, description and parameters", () => {
    assert.deepEqual(declareTools([READ]).decls, [
      { name: "file_read", description: "Reads a file.", parameters: READ.inputSchema },
    ]);
  });

  test("an input that is not an object is wrapped in one, and unwrapped again", () => {
    for (const schema of [
      true,
      { type: "string" },
      { type: ["object", "null"] },
      { anyOf: [{ type: "object" }] },
      {},
    ]) {
      const { decl, toInput } = declared(schema);
      assert.equal(decl.parameters.type, "object");
      assert.deepEqual(decl.parameters["required"], ["input"]);
      assert.equal(toInput({ input: "hello" }), "hello");
      assert.equal(toInput({ input: null }), null);
      assert.equal(toInput({}), undefined);
      assert.equal(toInput("hello"), undefined);
    }
  });

  test("references in a wrapped schema still resolve", async () => {
    const tree: JsonObject = {
      anyOf: [{ type: "integer" }, { $ref: "#/$defs/list" }],
      $defs: { list: { type: "array", items: { $ref: "#" } } },
    };
    const { decl, toInput } = declared(tree);
    const tools = [
      defineTool({ name: "own", description: "a", inputSchema: tree, tier: "read_only", run: () => null }),
      defineTool({ name: "shown", description: "b", inputSchema: decl.parameters, tier: "read_only", run: () => null }),
    ];
    const session = await (await createTestKernel({ tools })).open();
    for (const [input, status] of [
      [[1, [2, []]], "success"],
      [[1, ["a"]], "error"],
      ["a", "error"],
    ] as const) {
      const given = { input } as unknown as JsonObject;
      assert.equal((await session.call("own", toInput(given) ?? null)).status, status);
      assert.equal((await session.call("shown", given)).status, status);
    }
  });

  test("combinators beside an object's properties move to the description, as providers reject them at the top", () => {
    const { decl, toInput } = declared({
      type: "object",
      properties: { a: {}, b: {} },
      anyOf: [{ required: ["a"] }, { required: ["b"] }],
    });
    assert.deepEqual(decl.parameters, { type: "object", properties: { a: {}, b: {} } });
    assert.equal(decl.description, 'Does it.\nFurther rules: anyOf: [{"required":["a"]},{"required":["b"]}]');
    assert.deepEqual(toInput({ a: 1 }), { a: 1 });
  });

  test("parameters never exceed their limit", () => {
    const many = (describe: string) =>
      Object.fromEntries(
        Array.from({ length: 300 }, (_, i) => [`field${i}`, { type: "string", description: describe }]),
      );
    const wordy = declared({ type: "object", properties: many("x".repeat(200)), required: ["field7"] }).decl;
    assert.ok(JSON.stringify(wordy.parameters).length < MAX_PARAMETERS);
    assert.deepEqual((wordy.parameters["properties"] as JsonObject)["field7"], { type: "string" });
    const enumerated = Object.fromEntries(
      Object.keys(many("")).map((name) => [name, { enum: Array.from({ length: 30 }, (_, i) => `${name}${i}`) }]),
    );
    const named = declared({ type: "object", properties: enumerated, required: ["field7"] }).decl;
    assert.ok(JSON.stringify(named.parameters).length < MAX_PARAMETERS);
    assert.deepEqual(named.parameters["required"], ["field7"]);
    assert.match(named.description, /too long to be shown/);
  });

  test("lists only tools that the session's lease could permit", async () => {
    const { kernel, open } = await createTestKernel({ tools: [echoTool, other] });
    const { id } = await open({ lease: { tool_patterns: ["echo"] } });
    const shown = kernel.listTools({ sessionId: id, allVersions: false }).map(({ declaration }) => declaration);
    assert.deepEqual(
      declareTools(shown).decls.map(({ name }) => name),
      ["echo"],
    );
    assert.equal(declareTools(shown).find("other"), undefined);
  });

  test("lists only tools that policy could permit", async () => {
    const policy = createTestPolicy([{ id: "echo-only", action: "echo" }], [echoTool, other]);
    const { kernel, open } = await createTestKernel({ tools: [echoTool, other], policy });
    const { id } = await open();
    const shown = kernel.listTools({ sessionId: id, allVersions: false }).map(({ declaration }) => declaration);
    assert.deepEqual(
      declareTools(shown).decls.map(({ name }) => name),
      ["echo"],
    );
  });
});

describe("names", () => {
  test("any names are mapped to distinct ones that every provider accepts, and back", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(
          fc.oneof(fc.string({ unit: "binary", maxLength: 80 }), fc.constantFrom("a/b", "a b", "a_b", "1a", "..", "")),
        ),
        (names) => {
          const wire = createWireNames(names);
          const wireNames = names.map((name) => wire.toWire(name));
          assert.equal(new Set(wireNames).size, names.length);
          for (const [at, wireName] of wireNames.entries()) {
            assert.match(wireName, /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/);
            assert.equal(wire.fromWire(wireName), names[at]);
          }
        },
      ),
    );
  });

  test("a valid name is kept, and no other spelling maps to it", () => {
    const wire = createWireNames(["file_read", "File.Read"]);
    assert.equal(wire.toWire("file_read"), "file_read");
    for (const spelling of ["File_Read", "file_read ", "FILE_READ", "file-read", "__proto__", "constructor", ""]) {
      assert.equal(wire.fromWire(spelling), undefined);
    }
  });
});

describe("OpenAI", () => {
  test("chat completions: strict only for a schema that strict mode supports", () => {
    const tools = toOpenaiChatTools(declareTools([READ, STRICT]).decls) satisfies OpenAI.Chat.ChatCompletionTool[];
    assert.deepEqual(tools, [
      {
        type: "function",
        function: { name: "file_read", description: "Reads a file.", parameters: READ.inputSchema, strict: false },
      },
      {
        type: "function",
        function: { name: "say", description: "Says a text.", parameters: STRICT.inputSchema, strict: true },
      },
    ]);
  });

  test("responses: the same, without the nested level", () => {
    const tools = toOpenaiResponsesTools(declareTools([STRICT]).decls) satisfies OpenAI.Responses.Tool[];
    assert.deepEqual(tools, [
      { type: "function", name: "say", description: "Says a text.", parameters: STRICT.inputSchema, strict: true },
    ]);
  });

  test("sends nothing as strict that strict mode would reject", () => {
    const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
      type: "object",
      properties,
      required: Object.keys(properties),
      additionalProperties: false,
      ...more,
    });
    const refused: JsonObject[] = [
      object({ a: { type: "string" } }, { required: [] }),
      object({ a: { type: "string" } }, { additionalProperties: true }),
      object({ a: { type: "string", minLength: 1 } }),
      object({ a: { type: "string", default: "x" } }),
      object({ a: {} }),
      object({ a: true }),
      object({ a: { type: "array" } }),
      object({ a: { oneOf: [{ type: "string" }, { type: "number" }] } }),
      object({ a: { type: "object", additionalProperties: { type: "string" } } }),
      object({
        a: object({ b: { type: "object", properties: { c: { type: "string" } }, additionalProperties: false } }),
      }),
      object({ a: object({ b: object({ c: object({ d: object({ e: { type: "string" } }) }) }) }) }),
      object(Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`f${i}`, { type: "string" }]))),
      object({ a: { type: "string", enum: Array.from({ length: 501 }, (_, i) => `${i}`) } }),
    ];
    for (const schema of refused) {
      const [tool] = toOpenaiResponsesTools([declared(schema).decl]);
      assert.equal(tool?.strict, false, JSON.stringify(schema).slice(0, 200));
    }
    const taken = object({
      a: { anyOf: [object({ b: { type: "integer", minimum: 1 } }), { type: "null" }] },
      c: { type: "array", items: { type: "string" } },
    });
    assert.equal(toOpenaiResponsesTools([declared(taken).decl])[0]?.strict, true);
  });

  test("truncates a long description, and gives an object properties", () => {
    const [tool] = toOpenaiResponsesTools(
      declareTools([{ name: "a", description: "😀".repeat(1000), inputSchema: { type: "object" } }]).decls,
    );
    assert.equal(tool?.description.length, 1024);
    assert.ok(tool?.description.isWellFormed());
    assert.deepEqual(tool?.parameters, { type: "object", properties: {} });
  });

  test("rejects more tools than the provider accepts, with advice", () => {
    const { decls } = declareTools(Array.from({ length: 129 }, (_, i) => ({ ...READ, name: `tool_${i}` })));
    assert.throws(
      () => toOpenaiChatTools(decls),
      (fault: unknown) => fault instanceof KernelError && /128 tools.*129.*lease/.test(fault.message),
    );
  });
});

test("Anthropic gets the parameters unchanged", () => {
  const tools = toAnthropicTools(declareTools([READ]).decls) satisfies Anthropic.Tool[];
  assert.deepEqual(tools, [{ name: "file_read", description: "Reads a file.", input_schema: READ.inputSchema }]);
});

test("MCP gets the parameters unchanged", () => {
  assert.deepEqual(toMcpTools(declareTools([READ]).decls) satisfies McpTool[], [
    { name: "file_read", description: "Reads a file.", inputSchema: READ.inputSchema },
  ]);
});

describe("Gemini", () => {
  test("unsupported keywords move to the descriptions", () => {
    const schema = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        path: { type: "string", pattern: "^[a-z]+$", description: "Where." },
        mode: { const: "fast" },
        on: { enum: [true, "auto"] },
        pattern: { type: "string" },
        any: true,
        node: { $ref: "#/definitions/node", maxLength: 5 },
      },
      patternProperties: { "^x-": { type: "string" } },
      definitions: { node: { type: "object", properties: { next: { $ref: "#/definitions/node" } } } },
    };
    const tools = toGeminiTools([declared(schema).decl]) satisfies ToolListUnion;
    assert.deepEqual(tools[0]?.functionDeclarations[0]?.parametersJsonSchema, {
      type: "object",
      description: 'Further rules: patternProperties: {"^x-":{"type":"string"}}',
      properties: {
        path: { type: "string", description: 'Where.\nFurther rules: pattern: "^[a-z]+$"' },
        mode: { enum: ["fast"] },
        on: { description: 'Further rules: enum: [true,"auto"]' },
        pattern: { type: "string" },
        any: {},
        node: { anyOf: [{ $ref: "#/$defs/node" }], description: "Further rules: maxLength: 5" },
      },
      $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
    });
  });

  test("no reference has a sibling keyword, whatever the schema", () => {
    const keyword = fc.constantFrom("pattern", "minimum", "description", "anyOf", "title");
    fc.assert(
      fc.property(fc.dictionary(keyword, fc.constant("x")), (more) => {
        const schema = { type: "object", properties: { a: { $ref: "#/$defs/b", ...more } }, $defs: { b: {} } };
        const [tool] = toGeminiTools([declared(schema).decl]);
        for (const part of objectsIn(tool?.functionDeclarations[0]?.parametersJsonSchema ?? assert.fail())) {
          if (Object.hasOwn(part, "$ref")) assert.deepEqual(Object.keys(part), ["$ref"]);
        }
      }),
    );
  });
});

test("the AI SDK gets the schema unchanged, and leaves validation to the kernel", async () => {
  const tools = toAiSdkTools(declareTools([READ]).decls) satisfies ToolSet;
  const schema = asSchema(tools["file_read"]?.inputSchema);
  assert.deepEqual(await schema.jsonSchema, READ.inputSchema);
  assert.deepEqual(await schema.validate?.({ wrong: 1 }), { success: true, value: { wrong: 1 } });
});
