import assert from "node:assert/strict";
import { test } from "node:test";
import { type DescField, type DescMessage, type MessageInitShape, ScalarType } from "@bufbuild/protobuf";
import { FieldDescriptorProtoSchema, ListValueSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import {
  OpenSessionRequestSchema,
  OutcomeSchema,
  ProofSchema,
  RecordContentSchema,
  RecordSchema,
  ToolRequestSchema,
  ToolResponseSchema,
} from "../index.ts";
import { encodeMessage } from "./encode-message.ts";
import { create, fromBinary, toBinary } from "./protobuf.ts";

const SCHEMAS: readonly DescMessage[] = [
  ToolRequestSchema,
  ToolResponseSchema,
  RecordSchema,
  RecordContentSchema,
  ProofSchema,
];

type AnyInit = MessageInitShape<DescMessage>;

/** Any value of any of a message's fields. */
function anyInit(schema: DescMessage): fc.Arbitrary<AnyInit> {
  const parts: { [localName: string]: fc.Arbitrary<unknown> } = {};
  for (const member of schema.members) {
    parts[member.localName] =
      member.kind === "oneof"
        ? fc.option(
            fc.oneof(
              ...member.fields.map((field) => anyValue(field).map((value) => ({ case: field.localName, value }))),
            ),
            { nil: { case: undefined } },
          )
        : fc.option(anyValue(member), { nil: undefined });
  }
  return fc.record(parts).map((init) => init as AnyInit);
}

function anyValue(field: DescField): fc.Arbitrary<unknown> {
  if (field.fieldKind === "enum") return fc.nat(12);
  if (field.fieldKind === "message") return anyInit(field.message);
  if (field.fieldKind === "list") {
    if (field.listKind === "message") return fc.array(anyInit(field.message), { maxLength: 4 });
    return fc.array(fc.string({ unit: "binary" }), { maxLength: 4 });
  }
  switch (field.scalar) {
    case ScalarType.STRING:
      return fc.oneof(fc.string({ unit: "binary" }), fc.string({ minLength: 60, maxLength: 300 }));
    case ScalarType.BYTES:
      return fc.uint8Array({ maxLength: 200 });
    case ScalarType.UINT32:
      return fc.oneof(fc.nat(300), fc.integer({ min: 0, max: 0xffffffff }));
    case ScalarType.UINT64:
      return fc.oneof(fc.bigInt({ min: 0n, max: 300n }), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }));
    default:
      return fc.boolean();
  }
}

test("messages with kinds of fields it does not know are refused at once", () => {
  assert.throws(() => encodeMessage(TimestampSchema, create(TimestampSchema)), TypeError);
  assert.throws(() => encodeMessage(FieldDescriptorProtoSchema, create(FieldDescriptorProtoSchema)), TypeError);
  // Contains itself, and its failure must not leave half a layout behind.
  assert.throws(() => encodeMessage(ListValueSchema, create(ListValueSchema)), TypeError);
  assert.throws(() => encodeMessage(ListValueSchema, create(ListValueSchema)), TypeError);
});

test("numbers beyond their field are refused, and the next message is not disturbed", () => {
  const outcome = create(OutcomeSchema, { success: true, code: "x".repeat(50) });
  for (const resultSize of [-1n, 2n ** 64n]) {
    assert.throws(() => encodeMessage(OutcomeSchema, create(OutcomeSchema, { ...outcome, resultSize })), RangeError);
    assert.deepEqual(encodeMessage(OutcomeSchema, outcome), toBinary(OutcomeSchema, outcome));
  }
  const request = (temperatureScaled: number) =>
    create(ToolRequestSchema, { tool: { case: "inference", value: { temperatureScaled } } });
  for (const value of [-1, 0.5, 2 ** 32, Number.NaN]) {
    assert.throws(() => encodeMessage(ToolRequestSchema, request(value)), RangeError);
  }
});

test("bytes are those of toBinary, for every message", () => {
  for (const schema of SCHEMAS) {
    fc.assert(
      fc.property(anyInit(schema), (init) => {
        const message = create(schema, init);
        assert.deepEqual(encodeMessage(schema, message), toBinary(schema, message));
      }),
      { numRuns: 150 },
    );
  }
});

test("numbers of every length are written as toBinary writes them", () => {
  for (let bit = 0n; bit <= 64n; bit++) {
    for (const value of [2n ** bit - 1n, 2n ** bit, 2n ** bit + 1n]) {
      if (value >= 2n ** 64n) continue;
      const record = create(RecordSchema, { index: value, format: Number(BigInt.asUintN(32, value)) });
      assert.deepEqual(encodeMessage(RecordSchema, record), toBinary(RecordSchema, record), `${value}`);
    }
  }
});

test("fields of a newer version are kept", () => {
  const newer = Uint8Array.of(0x08, 0x01, 0xf8, 0x07, 0x05, 0xfa, 0x07, 0x02, 0x41, 0x42);
  assert.deepEqual(encodeMessage(RecordSchema, fromBinary(RecordSchema, newer)), newer);
});

test("large messages are written, and the buffer they needed is not kept in the way", () => {
  const large = create(ToolResponseSchema, {
    requestId: "r",
    result: { case: "success", value: { inlineResult: new Uint8Array(5_000_000).fill(1), view: "é".repeat(100_000) } },
  });
  const small = create(OpenSessionRequestSchema, {});
  assert.ok(Buffer.from(encodeMessage(ToolResponseSchema, large)).equals(toBinary(ToolResponseSchema, large)));
  assert.equal(toBinary(OpenSessionRequestSchema, small).length, 0);
  const outcome = create(OutcomeSchema, { success: true });
  assert.deepEqual(encodeMessage(OutcomeSchema, outcome), toBinary(OutcomeSchema, outcome));
});

test("an encoding is an array of its own", () => {
  const first = encodeMessage(OutcomeSchema, create(OutcomeSchema, { code: "first" }));
  const copy = first.slice();
  encodeMessage(OutcomeSchema, create(OutcomeSchema, { code: "other" }));
  assert.deepEqual(first, copy);
  assert.equal(first.buffer.byteLength, first.length);
});
