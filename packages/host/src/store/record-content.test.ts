import assert from "node:assert/strict";
import { it } from "node:test";
import {
  ContentPlace,
  ContentRole,
  compileEncoder,
  type RecordContent,
  RecordContentSchema,
  type RecordMessage,
  RecordSchema,
} from "@narthex/contracts";
import fc from "fast-check";
import { PLACE_FILE, PLACE_ROW, ROLE_REQUEST } from "./content-numbers.ts";
import { boundRecordContent, scanRecordContent, scanRecordTimes, writeRecordContent } from "./record-content.ts";

const encodeContent = compileEncoder<RecordContent>(RecordContentSchema);
const encodeRecord = compileEncoder<RecordMessage>(RecordSchema);

const bytes = fc.uint8Array({ maxLength: 300 });
const draft = fc.record(
  {
    role: fc.constantFrom(ContentRole.UNSPECIFIED, ContentRole.INPUT, ContentRole.PROOF, ContentRole.ARTIFACT),
    digest: bytes,
    nonce: bytes,
    size: fc.oneof(fc.maxSafeNat(), fc.maxSafeNat().map(BigInt)),
    place: fc.constantFrom(ContentPlace.UNSPECIFIED, ContentPlace.ROW, ContentPlace.ERASED),
    data: bytes,
    labels: fc.array(fc.string({ unit: "grapheme" }), { maxLength: 3 }),
  },
  { requiredKeys: [] },
);

it("refuses what is cut off or malformed", () => {
  const encoded = encodeContent({
    items: [{ role: ContentRole.RESULT, digest: new Uint8Array(32).fill(1), labels: ["l"] }],
  });
  for (let end = 1; end < encoded.length; end++) {
    assert.throws(() => scanRecordContent(encoded.subarray(0, end)), RangeError, String(end));
  }
  for (const malformed of [
    [0xff],
    [0x0b],
    Array(11).fill(0x80),
    [0x0a, 0x02, 0x12, 0x7f],
    [0x0a, 0x02, 0x08, 0x80, 1],
  ]) {
    assert.throws(() => scanRecordContent(Uint8Array.from(malformed)), RangeError, String(malformed));
  }
});

it("writes the bytes of the generated encoder, within the bound", () => {
  fc.assert(
    fc.property(fc.array(draft, { maxLength: 5 }), (items) => {
      const bound = boundRecordContent(items);
      const buffer = Buffer.alloc(bound + 7, 0xee);
      const end = writeRecordContent(buffer, 7, items);
      assert.ok(end <= bound + 7);
      assert.deepEqual(new Uint8Array(buffer.subarray(7, end)), encodeContent({ items }));
    }),
  );
});

it("scans what was written", () => {
  fc.assert(
    fc.property(fc.array(draft, { maxLength: 5 }), (items) => {
      const scanned = scanRecordContent(encodeContent({ items }));
      const expected = items.map((item) => ({
        role: item.role ?? 0,
        digest: Buffer.from(item.digest ?? []).toString("latin1"),
        size: Number(item.size ?? 0),
        place: item.place ?? 0,
        labels: item.labels ?? [],
      }));
      assert.deepEqual(scanned, expected);
    }),
  );
});

it("finds the times of a record", () => {
  const record = encodeRecord({
    format: 1,
    index: 300,
    chain: "ses_a",
    logicalTimeMs: 946_684_800_000,
    wallTimeMs: 2 ** 45,
  });
  assert.deepEqual(scanRecordTimes(record), { logicalTimeMs: 946_684_800_000, wallTimeMs: 2 ** 45 });
  assert.deepEqual(scanRecordTimes(new Uint8Array(0)), { logicalTimeMs: 0, wallTimeMs: 0 });
});

it("has the numbers of the generated enums", () => {
  assert.deepEqual([ROLE_REQUEST, PLACE_ROW, PLACE_FILE], [ContentRole.REQUEST, ContentPlace.ROW, ContentPlace.FILE]);
});
