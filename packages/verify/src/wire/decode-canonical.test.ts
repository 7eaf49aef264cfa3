import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, RecordContentSchema, RecordSchema, toBinary } from "@narthex/contracts";
import * as fc from "fast-check";
import { runsOf } from "../../../../test/sampled.ts";
import { decodeContent, decodeRecord } from "../ledger-messages.ts";
import { arbitraryMessage } from "../testing/arbitrary-message.ts";
import { Malformed } from "./decode-canonical.ts";

const REFUSED: readonly { readonly name: string; readonly bytes: readonly number[]; readonly reason: RegExp }[] = [
  { name: "an unknown field", bytes: [0x08, 1, 0x78, 1], reason: /unknown field 15/ },
  { name: "field number 0", bytes: [0x00, 1], reason: /unknown field 0/ },
  { name: "fields out of order", bytes: [0x10, 1, 0x08, 1], reason: /format is out of order/ },
  { name: "a singular field given twice", bytes: [0x08, 1, 0x08, 1], reason: /format is there twice/ },
  { name: "a default written out", bytes: [0x08, 0], reason: /format writes a default out/ },
  { name: "an empty string written out", bytes: [0x1a, 0], reason: /chain writes a default out/ },
  { name: "a varint longer than it need be", bytes: [0x08, 0x81, 0x00], reason: /shortest/ },
  { name: "a tag longer than it need be", bytes: [0x88, 0x00, 1], reason: /shortest/ },
  { name: "a uint32 above its range", bytes: [0x08, 0xff, 0xff, 0xff, 0xff, 0x1f], reason: /above 2\^32/ },
  { name: "a uint64 above 2^53 - 1", bytes: [0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1f], reason: /2\^53/ },
  { name: "a varint of eleven bytes", bytes: [0x10, ...new Array<number>(11).fill(0xff)], reason: /2\^53/ },
  { name: "the wrong wire type", bytes: [0x0a, 1, 1], reason: /wrong wire type/ },
  { name: "a group", bytes: [0x0b, 0x0c], reason: /wrong wire type/ },
  { name: "a fixed64 field", bytes: [0x09, 0, 0, 0, 0, 0, 0, 0, 0], reason: /wrong wire type/ },
  { name: "a string that is not UTF-8", bytes: [0x1a, 2, 0xc3, 0x28], reason: /not UTF-8/ },
  { name: "an encoded surrogate", bytes: [0x1a, 3, 0xed, 0xa0, 0x80], reason: /not UTF-8/ },
  { name: "a length of 2 GB", bytes: [0x1a, 0xff, 0xff, 0xff, 0xff, 0x07], reason: /cut off/ },
  { name: "a number that breaks off", bytes: [0x08, 0x80], reason: /cut off/ },
  { name: "a tag without a value", bytes: [0x08], reason: /cut off/ },
  { name: "an entry that ends inside its value", bytes: [0x4a, 3, 0x0a, 5, 0], reason: /cut off/ },
  { name: "two kinds in one entry", bytes: [0x4a, 4, 0x0a, 0, 0x12, 0], reason: /excludes toolInvoked/ },
  { name: "a bool of 2", bytes: [0x4a, 4, 0x12, 2, 0x08, 2], reason: /neither true nor false/ },
  { name: "bytes that are no message in a field nobody keeps", bytes: [0x4a, 4, 0x32, 2, 0x1a, 9], reason: /cut off/ },
];

for (const { name, bytes, reason } of REFUSED) {
  test(`a record with ${name} is malformed`, () => {
    const decoded = decodeRecord(Uint8Array.from(bytes));
    assert.ok(decoded instanceof Malformed);
    assert.match(decoded.reason, reason);
  });
}

test("an undefined enum value is malformed", () => {
  const decoded = decodeContent(Uint8Array.of(0x0a, 2, 0x08, 99));
  assert.ok(decoded instanceof Malformed);
  assert.match(decoded.reason, /ContentItem\.role has no value 99/);
});

test("random bytes never throw", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      decodeRecord(bytes);
      decodeContent(bytes);
    }),
    { numRuns: runsOf(2000) },
  );
});

test("accepts everything that the generated encoder writes, with the same values", () => {
  fc.assert(
    fc.property(arbitraryMessage(RecordSchema), (init) => {
      const bytes = toBinary(RecordSchema, create(RecordSchema, init));
      const generated = fromBinary(RecordSchema, bytes);
      const decoded = decodeRecord(bytes);
      assert.ok(!(decoded instanceof Malformed));
      assert.equal(decoded.index, Number(generated.index));
      assert.equal(decoded.chain, generated.chain);
      assert.equal(decoded.requestId, generated.requestId);
      assert.deepEqual(Uint8Array.from(decoded.previousHash.view()), generated.previousHash);
      assert.deepEqual(
        decoded.entries.map((entry) => entry.kind.case),
        generated.entries.map((entry) => entry.kind.case),
      );
    }),
  );
});

test("everything accepted encodes to the same bytes again", () => {
  const changed = fc.tuple(arbitraryMessage(RecordContentSchema), fc.nat(), fc.integer({ min: 0, max: 255 }));
  fc.assert(
    fc.property(changed, ([init, at, byte]) => {
      const bytes = toBinary(RecordContentSchema, create(RecordContentSchema, init));
      if (bytes.length > 0) bytes[at % bytes.length] = byte;
      const decoded = decodeContent(bytes);
      if (decoded instanceof Malformed) return;
      const generated = fromBinary(RecordContentSchema, bytes);
      assert.deepEqual(toBinary(RecordContentSchema, generated, { writeUnknownFields: false }), bytes);
      assert.deepEqual(
        decoded.items.map((item) => Uint8Array.from(item.digest.view())),
        generated.items.map((item) => item.digest),
      );
    }),
    { numRuns: runsOf(2000) },
  );
});
