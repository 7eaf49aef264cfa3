import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { runsOf } from "../../../../test/sampled.ts";
import { type ToolRequest, ToolRequestSchema, ToolResponseSchema } from "../gen/narthex/v1/tool_pb.js";
import { decode, decodeResponse, encode, encodeResponse } from "./codec.ts";
import { DecodeError } from "./decode-error.ts";
import { create, fromBinary, toBinary } from "./protobuf.ts";

const text = () => fc.string({ unit: "binary", maxLength: 60 });
const bytes = () => fc.uint8Array({ maxLength: 60 });
const uint64 = () => fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const texts = () => fc.array(text(), { maxLength: 4 });

function anyTool(): fc.Arbitrary<ToolRequest["tool"]> {
  const variants = {
    fileRead: fc.record({ path: text(), offset: uint64(), limit: uint64() }),
    fileWrite: fc.record({ path: text(), content: bytes(), createOnly: fc.boolean(), append: fc.boolean() }),
    fileEdit: fc.record({ path: text(), oldContent: text(), newContent: text() }),
    shellExec: fc.record({
      command: text(),
      cwd: text(),
      timeoutMs: uint64(),
      networkAccess: fc.boolean(),
      env: texts(),
    }),
    gitOp: fc.record({ operation: text(), args: texts(), cwd: text() }),
    inference: fc.record({ provider: text(), promptHash: bytes(), maxTokens: uint64(), temperatureScaled: fc.nat() }),
    artifactPublish: fc.record({ artifactId: text(), contentHash: bytes(), category: text(), metadata: texts() }),
    call: fc.record({ name: text(), version: text(), input: bytes() }),
    cancel: fc.record({ requestId: text() }),
  };
  const tools = Object.entries(variants).map(([name, value]) => fc.record({ case: fc.constant(name), value }));
  return fc.oneof(fc.constant({ case: undefined }), ...tools) as fc.Arbitrary<ToolRequest["tool"]>;
}

function anyRequest(): fc.Arbitrary<ToolRequest> {
  return fc
    .record({ requestId: text(), sessionToken: text(), dedupeKey: text(), tool: anyTool() })
    .map((init) => create(ToolRequestSchema, init));
}

function tryDecode(input: Uint8Array): ToolRequest | undefined {
  try {
    return decode(input);
  } catch (error) {
    assert.ok(error instanceof DecodeError, String(error));
    assert.ok(error.violations.length > 0 && error.violations.length <= 101);
    assert.equal(error.code, "INVALID_REQUEST");
    return undefined;
  }
}

describe("requests", () => {
  test("nothing but a DecodeError comes of random bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (input) => {
        tryDecode(input);
      }),
      { numRuns: runsOf(5000) },
    );
  });

  test("nothing but a DecodeError or a request comes of damaged ones, and a request reads as protobuf reads it", () => {
    fc.assert(
      fc.property(anyRequest(), fc.nat(), fc.integer({ min: 0, max: 255 }), fc.nat(3), (request, at, byte, kind) => {
        const input = [...encode(request)];
        const place = at % (input.length + 1);
        if (kind === 0) input[place] = byte;
        else if (kind === 1) input.splice(place, 0, byte);
        else if (kind === 2) input.splice(place, 1);
        else input.length = place;
        const damaged = Uint8Array.from(input);
        const decoded = tryDecode(damaged);
        if (decoded !== undefined) assert.deepEqual(decoded, fromBinary(ToolRequestSchema, damaged));
      }),
      { numRuns: runsOf(5000) },
    );
  });

  test("CTR-0001 the same request gives the same bytes, whatever the order in which it was written", () => {
    fc.assert(
      fc.property(anyRequest(), (request) => {
        const { requestId, sessionToken, dedupeKey, tool } = request;
        const again = create(ToolRequestSchema, { tool, dedupeKey, sessionToken, requestId });
        assert.deepEqual(encode(request), encode(again));
        assert.deepEqual(encode(request), toBinary(ToolRequestSchema, request));
      }),
    );
    const reordered = Uint8Array.of(0x52, 0x03, 0x0a, 0x01, 0x61, 0x12, 0x01, 0x74, 0x0a, 0x01, 0x72);
    const canonical = Uint8Array.of(0x0a, 0x01, 0x72, 0x12, 0x01, 0x74, 0x52, 0x03, 0x0a, 0x01, 0x61);
    assert.deepEqual(encode(decode(reordered)), canonical);
  });

  test("CTR-0002 decoding an encoded request gives back every field exactly", () => {
    fc.assert(
      fc.property(anyRequest(), (request) => {
        assert.deepEqual(decode(encode(request)), request);
        assert.deepEqual(decode(Buffer.from(encode(request))), request);
        assert.deepEqual(encode(decode(encode(request))), encode(request));
      }),
      { numRuns: runsOf(500) },
    );
  });

  test("CTR-0002 a text keeps the U+FEFF and U+FFFD it begins with", () => {
    for (const requestId of ["\ufeff", `\ufeff${"x".repeat(100)}`, "\ufffd", `é\ufffd\ufeff${"x".repeat(100)}`]) {
      const request = create(ToolRequestSchema, { requestId });
      assert.equal(decode(encode(request)).requestId, requestId);
    }
  });

  test("bytes fields are views of the input", () => {
    const input = encode(
      create(ToolRequestSchema, { tool: { case: "call", value: { name: "echo", input: Uint8Array.of(1, 2, 3) } } }),
    );
    const { tool } = decode(input);
    assert.ok(tool.case === "call");
    assert.equal(tool.value.input.buffer, input.buffer);
    assert.equal(Object.getPrototypeOf(tool.value.input), Uint8Array.prototype);
  });
});

describe("responses", () => {
  test("bytes that are no response throw a DecodeError", () => {
    for (const input of [[0x0a], [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f], [0x0a, 0x01, 0xff], [0x10, 0x01], [0x07]]) {
      assert.throws(() => decodeResponse(Uint8Array.from(input)), DecodeError, input.join());
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (input) => {
        try {
          decodeResponse(input);
        } catch (error) {
          assert.ok(error instanceof DecodeError);
        }
      }),
      { numRuns: runsOf(2000) },
    );
  });

  test("a response survives, U+FEFF included", () => {
    const response = create(ToolResponseSchema, {
      requestId: "r",
      result: {
        case: "error",
        value: {
          errorCode: "INVALID_REQUEST",
          message: `\ufeff${"m".repeat(50)}`,
          violations: [{ field: "file_read.path", rule: "required", message: "must not be empty" }],
        },
      },
    });
    assert.deepEqual(decodeResponse(encodeResponse(response)), response);
  });

  test("fields of a newer kernel do not stop an older caller", () => {
    const newer = Uint8Array.of(0x0a, 0x01, 0x72, 0xf8, 0x07, 0x01);
    assert.equal(decodeResponse(newer).requestId, "r");
  });
});
