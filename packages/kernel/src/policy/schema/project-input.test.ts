import assert from "node:assert/strict";
import { test } from "node:test";
import { isKernelError, type JsonValue } from "@narthex/contracts";
import { projectInput } from "./project-input.ts";
import { shapeFromJsonSchema } from "./shape-from-json-schema.ts";

const SHAPE = shapeFromJsonSchema({
  type: "object",
  required: ["name"],
  properties: {
    name: { type: "string" },
    count: { type: "integer" },
    sure: { type: "boolean" },
    words: { type: "array", items: { type: "string" } },
    numbers: { type: "array", items: { type: "integer" } },
    at: { type: "object", required: ["line"], properties: { line: { type: "integer" }, ratio: { type: "number" } } },
  },
});

function refuses(input: JsonValue, field: string): void {
  assert.throws(
    () => projectInput(input, SHAPE),
    (fault: unknown) => isKernelError(fault) && fault.code === "POLICY_ERROR" && fault.message.includes(field),
    JSON.stringify(input),
  );
}

test("a visible value that cannot be represented is an error, whether optional or not", () => {
  refuses({ name: "a", count: 1e300 }, "`count`");
  refuses({ name: "a", count: 2 ** 53 }, "`count`");
  refuses({ name: "a", count: -(2 ** 53) }, "`count`");
  refuses({ name: "a", count: 1.5 }, "`count`");
  refuses({ name: "a", count: "1" }, "`count`");
  refuses({ name: "a", sure: null }, "`sure`");
  refuses({ name: "a", words: ["a", 1] }, "`words`");
  refuses({ name: "a", words: "a" }, "`words`");
  refuses({ name: "a", numbers: [1, 1e300] }, "`numbers`");
  refuses({ name: "a", at: { line: 1e300 } }, "`at.line`");
  refuses({ name: "a", at: {} }, "`at.line`");
  refuses({ name: "a", at: null }, "`at`");
  refuses({}, "`name`");
  refuses(null, "the input");
  refuses(["name"], "the input");
});

test("ignores inherited properties", () => {
  refuses(Object.create({ name: "a" }) as JsonValue, "`name`");
  const shape = shapeFromJsonSchema({ type: "object", properties: { constructor: { type: "string" } } });
  assert.deepEqual(projectInput({}, shape), {});
});

test("omits what rules cannot see, at every depth", () => {
  const input = { name: "a", other: 1, at: { line: 0, ratio: 0.5, more: {} }, words: ["x", "x"], numbers: [-0] };
  const seen = projectInput(input, SHAPE);
  assert.deepEqual(seen, { name: "a", at: { line: 0 }, words: ["x", "x"], numbers: [0] });
  assert.ok(Object.is(seen["numbers"][0], 0));
});

test("accepts any input if nothing is visible", () => {
  for (const input of [null, 1, "a", [], {}, { a: 1 }]) {
    assert.deepEqual(projectInput(input, shapeFromJsonSchema(true)), {});
  }
});
