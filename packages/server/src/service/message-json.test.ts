import assert from "node:assert/strict";
import { test } from "node:test";
import { fromJson, toJson } from "@bufbuild/protobuf";
import { CallStreamResponseSchema, create, type ToolResponse, ToolResponseSchema } from "@narthex/contracts";
import fc from "fast-check";
import { messageToJson } from "./message-json.ts";

const bytes = fc.uint8Array({ maxLength: 40 });
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const text = fc.string({ unit: "binary" }).filter((value) => value.isWellFormed());

const responses: fc.Arbitrary<ToolResponse> = fc
  .record({
    requestId: text,
    result: fc.oneof(
      fc.record({
        case: fc.constant("success" as const),
        value: fc.record({
          resultHash: bytes,
          inlineResult: bytes,
          budgetConsumed: uint64,
          durationMs: uint64,
          view: text,
          labels: fc.array(text),
          resultSize: uint64,
          cut: fc.boolean(),
        }),
      }),
      fc.record({
        case: fc.constant("denied" as const),
        value: fc.record({ ruleId: text, rationaleCode: text, message: text, proofHash: bytes }),
      }),
      fc.record({
        case: fc.constant("error" as const),
        value: fc.record({
          errorCode: text,
          retryable: fc.boolean(),
          retryAfterMs: uint64,
          violations: fc.array(fc.record({ field: text, rule: text, message: text })),
        }),
      }),
      fc.constant({ case: undefined }),
    ),
  })
  .map((init) => create(ToolResponseSchema, init));

test("writes the same JSON as protobuf, and reads it back", () => {
  fc.assert(
    fc.property(responses, (response) => {
      const json = messageToJson(ToolResponseSchema, response);
      assert.deepEqual(json, toJson(ToolResponseSchema, response));
      assert.deepEqual(fromJson(ToolResponseSchema, json), response);
    }),
  );
});

test("supports nested messages and bytes", () => {
  for (const event of [
    { case: "chunk" as const, value: Buffer.from([0, 255, 254]) },
    { case: "chunk" as const, value: new Uint8Array(0) },
    { case: "response" as const, value: create(ToolResponseSchema, { requestId: "r" }) },
  ]) {
    const message = create(CallStreamResponseSchema, { event });
    assert.deepEqual(messageToJson(CallStreamResponseSchema, message), toJson(CallStreamResponseSchema, message));
  }
});
