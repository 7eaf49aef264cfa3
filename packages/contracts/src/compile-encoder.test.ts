import assert from "node:assert/strict";
import { test } from "node:test";
import { type DescField, type DescMessage, type Message, type MessageInitShape, ScalarType } from "@bufbuild/protobuf";
import { FieldDescriptorProtoSchema, ListValueSchema, StructSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import * as fc from "fast-check";
import { runsOf } from "../../../test/sampled.ts";
import { compileEncoder, compileSharedEncoder } from "./compile-encoder.ts";
import { LedgerRecordSchema, TailLedgerRequestSchema } from "./gen/narthex/v1/admin_pb.js";
import {
  type Outcome,
  OutcomeSchema,
  ProofSchema,
  RecordContentSchema,
  type Record as RecordMessage,
  RecordSchema,
} from "./gen/narthex/v1/ledger_pb.js";
import {
  type ToolRequest,
  ToolRequestSchema,
  type ToolResponse,
  ToolResponseSchema,
} from "./gen/narthex/v1/tool_pb.js";
import { create, toBinary } from "./wire/protobuf.ts";

const SCHEMAS: readonly DescMessage[] = [
  ToolRequestSchema,
  ToolResponseSchema,
  RecordSchema,
  RecordContentSchema,
  ProofSchema,
  LedgerRecordSchema,
];
const encodeRecord = compileEncoder<RecordMessage>(RecordSchema);
const encodeOutcome = compileEncoder<Outcome>(OutcomeSchema);
const encodeRequest = compileEncoder<ToolRequest>(ToolRequestSchema);

type AnyInit = MessageInitShape<DescMessage>;

/** Any value of any of a message's fields. */
function anyInit(schema: DescMessage): fc.Arbitrary<AnyInit> {
  const parts: { [localName: string]: fc.Arbitrary<unknown> } = {};
  for (const member of schema.members) {
    parts[member.localName] =
      member.kind === "oneof"
        ? fc.option(fc.oneof(...member.fields.map(anyCase)), { nil: { case: undefined } })
        : fc.option(anyValue(member), { nil: undefined });
  }
  return fc.record(parts).map((init) => init as AnyInit);
}

function anyCase(field: DescField): fc.Arbitrary<unknown> {
  return anyValue(field).map((value) => ({ case: field.localName, value }));
}

function anyValue(field: DescField): fc.Arbitrary<unknown> {
  if (field.fieldKind === "enum") return fc.nat(12);
  if (field.fieldKind === "message") return anyInit(field.message);
  if (field.fieldKind === "list") {
    if (field.listKind === "message") return fc.array(anyInit(field.message), { maxLength: 4 });
    const isBytes = field.listKind === "scalar" && field.scalar === ScalarType.BYTES;
    const item = isBytes ? fc.uint8Array({ maxLength: 40 }) : fc.string({ unit: "binary" });
    return fc.array<unknown>(item, { maxLength: 4 });
  }
  switch (field.scalar) {
    case ScalarType.STRING:
      return fc.oneof(fc.string({ unit: "binary" }), fc.string({ minLength: 35, maxLength: 300 }));
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

test("messages with kinds of fields it does not know are refused before anything is encoded", () => {
  const schemas = [TimestampSchema, FieldDescriptorProtoSchema, ListValueSchema, StructSchema, TailLedgerRequestSchema];
  for (const schema of schemas) assert.throws(() => compileEncoder(schema), TypeError, schema.typeName);
});

test("numbers beyond their field are refused, and the next message is not disturbed", () => {
  const outcome = { success: true, code: "x".repeat(50) };
  const expected = toBinary(OutcomeSchema, create(OutcomeSchema, outcome));
  for (const resultSize of [-1n, 2n ** 64n, -1, 0.5, 2 ** 53, Number.NaN]) {
    assert.throws(() => encodeOutcome({ ...outcome, resultSize }), RangeError, String(resultSize));
    assert.deepEqual(encodeOutcome(outcome), expected);
  }
  for (const format of [-1, 0.5, 2 ** 32, Number.NaN]) assert.throws(() => encodeRecord({ format }), RangeError);
});

test("bytes are those of toBinary, for every message", () => {
  for (const schema of SCHEMAS) {
    const encode = compileEncoder<Message>(schema);
    fc.assert(
      fc.property(anyInit(schema), (init) => {
        const message = create(schema, init);
        assert.deepEqual(encode(message), toBinary(schema, message));
        assert.deepEqual(encode(init), toBinary(schema, message));
      }),
      { numRuns: runsOf(100) },
    );
  }
});

test("numbers of every length are written as toBinary writes them", () => {
  for (let bit = 0n; bit <= 64n; bit++) {
    for (const value of [2n ** bit - 1n, 2n ** bit, 2n ** bit + 1n]) {
      if (value >= 2n ** 64n) continue;
      const record = create(RecordSchema, { index: value, format: Number(BigInt.asUintN(32, value)) });
      assert.deepEqual(encodeRecord(record), toBinary(RecordSchema, record), String(value));
    }
  }
});

test("messages within messages are measured right at every length of a length", () => {
  for (const length of [0, 1, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 16_370, 16_384, 70_000, 2_100_000]) {
    const request = create(ToolRequestSchema, {
      requestId: "r",
      tool: { case: "fileWrite", value: { path: "a", content: new Uint8Array(length).fill(7), append: true } },
    });
    assert.ok(Buffer.from(encodeRequest(request)).equals(toBinary(ToolRequestSchema, request)), String(length));
  }
});

test("large messages are written, and the small ones after them too", () => {
  const encodeResponse = compileEncoder<ToolResponse>(ToolResponseSchema);
  const large = create(ToolResponseSchema, {
    result: { case: "success", value: { inlineResult: new Uint8Array(5_000_000).fill(1), view: "é".repeat(100_000) } },
  });
  assert.ok(Buffer.from(encodeResponse(large)).equals(toBinary(ToolResponseSchema, large)));
  assert.deepEqual(encodeOutcome({ success: true }), Uint8Array.of(8, 1));
});

test("an encoding is an array of its own, with room at its front if asked", () => {
  const first = encodeOutcome({ code: "first" });
  const copy = first.slice();
  const second = encodeOutcome({ code: "other" }, 4);
  assert.deepEqual(first, copy);
  assert.equal(first.buffer.byteLength, first.length);
  assert.deepEqual(second.subarray(4), encodeOutcome({ code: "other" }));
});

test("in shared memory the bytes are the same, and those before them stay as they are", () => {
  const encodeShared = compileSharedEncoder<RecordMessage>(RecordSchema);
  const records = [1, 100, 5000, 200_000, 3].map((length) => ({ chain: "c", requestId: "r".repeat(length) }));
  const encoded = records.map((record) => encodeShared(record, 2).subarray(2));
  for (const [index, bytes] of encoded.entries()) {
    assert.ok(Buffer.from(encodeRecord(records[index] ?? {})).equals(bytes), `${bytes.length} bytes`);
  }
});

test("a variant that is set to its default is still there", () => {
  assert.deepEqual(encodeRequest({ tool: { case: "fileRead", value: {} } }), Uint8Array.of(0x52, 0x00));
  assert.deepEqual(encodeRequest({ tool: { case: undefined } }), new Uint8Array(0));
});
