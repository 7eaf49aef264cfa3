import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isKernelError, type JsonObject, type JsonValue } from "@narthex/contracts";
import { Type } from "typebox";
import { defineTool, type OutputOf, type SchemaOutput } from "./define-tool.ts";

/** Fails to compile unless both are the very same type. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_equal: Same<A, B>): void => {};

describe("defineTool", () => {
  it("rejects a refinement, which is code and not schema", () => {
    const inputSchema = Type.Refine(Type.String(), () => false);
    assert.throws(
      () => defineTool({ name: "t", description: "d", inputSchema, run: () => null }),
      (error) => isKernelError(error) && error.code === "INVALID_DECLARATION",
    );
  });

  it("rejects at compile time properties that the schemas do not declare", () => {
    defineTool({
      name: "t",
      description: "d",
      inputSchema: Type.Object({ a: Type.String() }),
      outputSchema: Type.Object({ n: Type.Number() }),
      run: (input) => {
        // @ts-expect-error: the schema has no such property.
        assert.equal(input.b, undefined);
        // @ts-expect-error: a text is no number.
        const n: number = input.a;
        return { n };
      },
    });
    // @ts-expect-error: the output schema promises a number.
    defineTool({ name: "t", description: "d", inputSchema: true, outputSchema: Type.Number(), run: () => "text" });
    // @ts-expect-error: a binary result is bytes.
    defineTool({ name: "t", description: "d", inputSchema: true, resultType: "binary", run: () => "text" });
  });

  it("infers the input of a schema built with Type", () => {
    const tool = defineTool({
      name: "t",
      description: "d",
      inputSchema: Type.Object({
        path: Type.String(),
        limit: Type.Optional(Type.Integer()),
        mode: Type.Union([Type.Literal("a"), Type.Literal("b")]),
        tags: Type.Array(Type.String()),
        nested: Type.Object({ deep: Type.Boolean() }),
      }),
      run: (input) => {
        same<typeof input.path, string>(true);
        same<typeof input.limit, number | undefined>(true);
        same<typeof input.mode, "a" | "b">(true);
        same<typeof input.tags, string[]>(true);
        same<typeof input.nested.deep, boolean>(true);
        return input.path;
      },
    });
    assert.equal(typeof tool.run, "function");
  });

  it("infers the input of a plain JSON Schema literal, with and without as const", () => {
    defineTool({
      name: "t",
      description: "d",
      inputSchema: {
        type: "object",
        properties: {
          path: { type: "string" },
          limit: { type: "integer" },
          mode: { enum: ["a", "b"] },
          tags: { type: "array", items: { type: "string" } },
        },
        required: ["path", "mode", "tags"],
      },
      run: (input) => {
        same<typeof input.path, string>(true);
        same<typeof input.limit, number | undefined>(true);
        same<typeof input.mode, "a" | "b">(true);
        same<typeof input.tags, string[]>(true);
        return input.path;
      },
    });
    const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as const;
    defineTool({ name: "t", description: "d", inputSchema: schema, run: (input) => input.n + 1 });
  });

  it("accepts any JSON where the schema says nothing", () => {
    same<SchemaOutput<true>, JsonValue>(true);
    same<SchemaOutput<ReturnType<typeof Type.Unknown>>, JsonValue>(true);
    same<SchemaOutput<ReturnType<typeof Type.Any>>, JsonValue>(true);
    defineTool({ name: "t", description: "d", inputSchema: true, run: (input) => input });
  });

  it("infers the output from the kind of result", () => {
    same<OutputOf<"string", undefined>, string>(true);
    same<OutputOf<"binary", undefined>, Uint8Array>(true);
    same<OutputOf<"stream", undefined>, AsyncIterable<Uint8Array>>(true);
    same<OutputOf<"object", undefined>, JsonObject>(true);
    same<OutputOf<"array", undefined>, JsonValue[]>(true);
    same<OutputOf<"json", undefined>, JsonValue>(true);
    same<OutputOf<"json", ReturnType<typeof Type.String>>, string>(true);
  });

  it("fills in omitted properties with the fewest claims", () => {
    const tool = defineTool({ name: "t", description: "d", inputSchema: true, run: () => null });
    assert.deepEqual(
      { ...tool, run: undefined },
      {
        name: "t",
        version: "1.0.0",
        description: "d",
        source: "embedder",
        isolation: "inline",
        inputSchema: true,
        outputSchema: undefined,
        resultType: "json",
        normalise: "json",
        effects: [],
        determinism: "nondeterministic",
        tier: "side_effecting",
        capabilities: [],
        bounds: { timeoutMs: 30_000, maxOutputBytes: 16_384 },
        price: 1,
        run: undefined,
      },
    );
  });

  it("normalises by the kind of result unless the tool has its own rule", () => {
    const rule = (resultType: "json" | "object" | "array" | "string" | "binary" | "stream") =>
      defineTool({ name: "t", description: "d", inputSchema: true, resultType, run: () => assert.fail() }).normalise;
    assert.deepEqual(
      ["json", "object", "array"].map((type) => rule(type as "json")),
      ["json", "json", "json"],
    );
    assert.deepEqual(
      ["string", "binary", "stream"].map((type) => rule(type as "json")),
      ["binary", "binary", "binary"],
    );
    const custom = defineTool({
      name: "t",
      description: "d",
      inputSchema: true,
      normaliseCustom: () => new Uint8Array(),
      run: () => null,
    });
    assert.equal(custom.normalise, "custom");
  });

  it("keeps the methods of the definition it was made from", async () => {
    class Counter {
      readonly name = "count";
      readonly description = "counts";
      readonly inputSchema = true;
      #count = 0;
      run(): number {
        return ++this.#count;
      }
    }
    const tool = defineTool(new Counter());
    const context = {} as Parameters<typeof tool.run>[1];
    assert.equal(await tool.run(null, context), 1);
    assert.equal(await tool.run(null, context), 2);
  });
});
