import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import { defineTool, type Tool } from "@narthex/kernel";
import { createTestKernel } from "@narthex/testkit";
import * as fc from "fast-check";
import { runsOf } from "../../../../test/sampled.ts";
import { createAgentSession } from "../session/agent-session.ts";
import { listAgentTools } from "../session/agent-tools.ts";
import { executeCall, type CallOutcome, readCall } from "../session/execute-call.ts";
import { describeViolation } from "./correction-text.ts";
import { describeShape } from "./describe-shape.ts";
import { parseArguments } from "./parse-arguments.ts";

const read = defineTool({
  name: "file_read",
  description: "Reads a file.",
  inputSchema: {
    type: "object",
    properties: {
      path: { type: "string" },
      limit: { type: "integer", minimum: 1 },
      range: { type: "object", properties: { from: { type: "integer" } }, required: ["from"] },
    },
    required: ["path"],
    additionalProperties: false,
  },
  resultType: "string",
  tier: "read_only",
  run: ({ path }) => `content of ${path}`,
});
const text = defineTool({
  name: "say",
  description: "Says a text.",
  inputSchema: { type: "string", minLength: 2 },
  resultType: "string",
  tier: "read_only",
  run: (said) => said,
});

async function answering(...tools: Tool[]) {
  const { kernel, open, records } = await createTestKernel({ tools });
  const opened = await open();
  const session = createAgentSession(kernel, opened);
  const agentTools = listAgentTools(session);
  const options = { signal: new AbortController().signal, approvalWaitMs: 0 };
  return {
    records: () => records(opened.id),
    async answer(name: string, given: string): Promise<CallOutcome> {
      const call = readCall({ id: "c", name, arguments: given }, agentTools);
      if (typeof call === "string") return { status: "malformed", text: call, requestId: "", cost: 0 };
      return (await executeCall(call, agentTools, session, options)).outcome;
    },
  };
}

const SHAPE = "Expected arguments: { path: string, limit?: integer, range?: { from: integer } }";

describe("malformed arguments become a result that the model can act on", () => {
  test("reports a missing field with the exact message and the expected shape", async () => {
    const { answer } = await answering(read);
    const { status, text: told } = await answer("file_read", "{}");
    assert.equal(status, "malformed");
    assert.equal(told, `Tool execution failed: missing required field 'path' in arguments\n${SHAPE}`);
  });

  test("reports all problems at once", async () => {
    const { answer } = await answering(read);
    const { text: told } = await answer("file_read", '{"limit":"ten","range":{},"pth":"a"}');
    assert.deepEqual(told.split("\n").sort(), [
      SHAPE,
      "Tool execution failed: field 'limit' in arguments: expected integer, got string",
      "Tool execution failed: field 'pth' in arguments: unknown field 'pth'; allowed: path, limit, range",
      "Tool execution failed: missing required field 'from' in arguments.range",
      "Tool execution failed: missing required field 'path' in arguments",
    ]);
  });

  test("reports the position of invalid JSON, and calls no tool", async () => {
    const { answer, records } = await answering(read);
    const before = (await records()).length;
    for (const [given, why] of [
      ['{"path":', "the text ends where a value is due (at /path)"],
      ["path=a.txt", "found `p` at position 0 where a value is due"],
      ['{"path":"a","path":"b"}', "key `path` occurs twice in one object (at /path)"],
      ['{"path":"a"} ok', "found `o` at position 13 where the end of the text is due"],
    ] as const) {
      assert.deepEqual(await answer("file_read", given), {
        status: "malformed",
        text: `Tool execution failed: the arguments are not valid JSON: ${why}\n${SHAPE}`,
        requestId: "",
        cost: 0,
      });
    }
    assert.equal((await records()).length, before);
  });

  test("reports arguments that are not an object", async () => {
    const { answer } = await answering(read);
    for (const given of ["[1]", "7", "null", '"a.txt"']) {
      assert.match(
        (await answer("file_read", given)).text,
        /^Tool execution failed: expected object, got \w+ in arguments\n/,
      );
    }
  });

  test("names the field of a wrapped input as the model must send it", async () => {
    const { answer } = await answering(text);
    assert.equal((await answer("say", '{"input":"hello"}')).text, "hello");
    assert.match(
      (await answer("say", "{}")).text,
      /^Tool execution failed: missing required field 'input' in arguments\n/,
    );
    assert.match(
      (await answer("say", '{"input":7}')).text,
      /^Tool execution failed: field 'input' in arguments: expected string/,
    );
  });

  test("an unknown tool is rejected by the kernel, recorded, and the model gets the known names", async () => {
    const { answer, records } = await answering(read);
    const before = (await records()).length;
    const { status, text: told } = await answer("file_reed", '{"path":"a"}');
    assert.equal(status, "malformed");
    assert.match(
      told,
      /^Tool execution failed: there is no tool `file_reed` for you; did you mean `file_read`\?\nYour tools: file_read\n/,
    );
    assert.match((await answer("x\u202e\n`", "{}")).text, /there is no tool `x\\u\{202e\}\\u\{a\}\\u\{60\}` for you/);
    assert.ok((await records()).length > before);
  });

  test("no text causes a crash, and nothing runs with input that does not fit", async () => {
    const { answer } = await answering(read);
    const anyText = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.json(),
      fc.constantFrom('{"path":{}}', '"{\\"path\\":1}"', "[".repeat(500), '{"a":1e999}', '{"__proto__":{}}'),
    );
    await fc.assert(
      fc.asyncProperty(anyText, async (given) => {
        const { status, text: told } = await answer("file_read", given);
        assert.equal(status, "malformed");
        assert.match(told, /^Tool execution failed: /);
      }),
      { numRuns: runsOf(60) },
    );
  });
});

describe("arguments", () => {
  test("missing arguments are an empty object", () => {
    for (const given of ["", " \n"]) assert.deepEqual(parseArguments(given), { value: {} });
  });

  test("decodes arguments encoded once or twice more as a string", () => {
    const value = { path: 'a"b\\c', list: ["{}"] };
    const once = JSON.stringify(value);
    for (const given of [once, JSON.stringify(once), JSON.stringify(JSON.stringify(once))]) {
      assert.deepEqual(parseArguments(given), { value });
    }
  });

  test("a string that contains no object stays a string", () => {
    for (const held of ["plain", "7", "[1]", "{", '{"a":1,"a":2}', "null"]) {
      assert.deepEqual(parseArguments(JSON.stringify(held)), { value: held });
    }
  });
});

test("a shape summarises a schema and stays short", () => {
  const shapes: readonly [JsonObject, string][] = [
    [{}, "any"],
    [{ enum: ["a", 1] }, '"a" | 1'],
    [{ type: ["string", "null"] }, "string | null"],
    [{ type: "array", items: { anyOf: [{ type: "string" }, { const: 1 }] } }, "(string | 1)[]"],
    [{ type: "object", properties: { "a b": { type: "boolean" } }, required: ["a b"] }, '{ "a b": boolean }'],
    [{ $ref: "#/$defs/node" }, "node"],
  ];
  for (const [schema, shape] of shapes) assert.equal(describeShape(schema), shape);
  const wide = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`f${i}`, { type: "string" }]));
  assert.ok(describeShape({ type: "object", properties: wide }).length < 1600);
});

test("reports a missing field with the object that lacks it", () => {
  for (const [field, place] of [
    ["a", "arguments"],
    ["a.b", "arguments.a"],
    ["a[0].b", "arguments.a[0]"],
    ['a["x y"]', "arguments.a"],
    ["$[2].b", "arguments[2]"],
    ['$["x y"]', "arguments"],
  ] as const) {
    const violation = { field, rule: "required", message: "missing required field 'b'" };
    assert.equal(describeViolation(violation), `missing required field 'b' in ${place}`);
  }
});
