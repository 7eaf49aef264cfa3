import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { ToolRequestSchema } from "../gen/narthex/v1/tool_pb.js";
import { encode } from "./codec.ts";
import { peekRequestHead } from "./peek-request-head.ts";
import { create } from "./protobuf.ts";

const request = create(ToolRequestSchema, {
  requestId: "req-1",
  sessionToken: "token-é",
  dedupeKey: "key",
  tool: { case: "fileWrite", value: { path: "a", content: new Uint8Array(2000) } },
});
const whole = encode(request);
const idEnd = 2 + 5;
const tokenEnd = idEnd + 2 + 8;

test("bytes that begin no request have no head", () => {
  assert.equal(peekRequestHead(Uint8Array.of(0x08, 0x01)), undefined);
  assert.equal(peekRequestHead(Uint8Array.of(0x0b)), undefined);
  assert.equal(peekRequestHead(Uint8Array.of(0x12, 0x01, 0xff)), undefined);
});

test("what is not complete yet is not in the head", () => {
  for (let length = 0; length <= whole.length; length++) {
    const head = peekRequestHead(whole.subarray(0, length));
    assert.equal(head?.requestId, length >= idEnd ? "req-1" : undefined, `${length} bytes`);
    assert.equal(head?.sessionToken, length >= tokenEnd ? "token-é" : undefined, `${length} bytes`);
  }
});

test("a token behind a large field is not waited for", () => {
  const late = Uint8Array.of(0x0a, 0x01, 0x72, 0x5a, 0x80, 0x80, 0x40, 0x0a, 0x01, 0x61);
  assert.deepEqual(peekRequestHead(late), { requestId: "r" });
});

test("the order of id, token and key is free", () => {
  const swapped = Uint8Array.of(0x1a, 0x01, 0x6b, 0x12, 0x01, 0x74, 0x0a, 0x01, 0x72, 0x5a, 0xff);
  assert.deepEqual(peekRequestHead(swapped), { requestId: "r", sessionToken: "t" });
});

test("no bytes make it throw", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      peekRequestHead(bytes);
    }),
    { numRuns: 2000 },
  );
});
