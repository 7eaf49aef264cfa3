import assert from "node:assert/strict";
import { test } from "node:test";
import { create, RecordContentSchema, RecordSchema, toBinary } from "@narthex/contracts";
import * as fc from "fast-check";
import { runsOf } from "../../../test/sampled.ts";
import { CONTENT_LAYOUT, RECORD_LAYOUT } from "./ledger-layouts.ts";
import { arbitraryMessage } from "./testing/arbitrary-message.ts";
import { sampleLedger } from "./testing/sample-ledger.ts";
import { decodeCanonical, Malformed } from "./wire/decode-canonical.ts";
import type { MessageLayout } from "./wire/message-layout.ts";
import { readRecord, readRecordContent } from "./wire/gen/read-ledger.ts";

const READERS = [
  { name: "record", schema: RecordSchema, quick: readRecord, layout: RECORD_LAYOUT, column: "record" as const },
  {
    name: "content",
    schema: RecordContentSchema,
    quick: readRecordContent,
    layout: CONTENT_LAYOUT,
    column: "content" as const,
  },
];

for (const { name, schema, quick, layout, column } of READERS) {
  const compare = (bytes: Uint8Array): boolean => {
    const message: unknown = quick(bytes, 0, bytes.length);
    if (message === undefined) return false;
    const careful = decodeCanonical(layout as MessageLayout<unknown>, bytes);
    assert.ok(!(careful instanceof Malformed), "the quick reader took what the careful one refuses");
    assert.deepEqual(message, careful);
    return true;
  };

  test(`the fast decoder of a ${name} decodes those of calls`, () => {
    const read = sampleLedger().rows.filter((row) => compare(row[column]));
    assert.ok(read.length >= 7, `only ${read.length} were read`);
  });

  test(`the fast decoder of a ${name} accepts only what the strict one accepts, with the same result`, () => {
    const changes = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 2 });
    fc.assert(
      fc.property(bytesOf(schema, column), changes, fc.nat(), (valid, edits, cut) => {
        const bytes = edits.length === 2 ? valid.slice(0, cut % (valid.length + 1)) : valid.slice();
        for (const [at, byte] of edits) if (bytes.length > 0) bytes[at % bytes.length] = byte;
        compare(bytes);
      }),
      { numRuns: runsOf(1500) },
    );
  });
}

/** Any message at all, and those that a kernel writes. */
function bytesOf(
  schema: typeof RecordSchema | typeof RecordContentSchema,
  column: "record" | "content",
): fc.Arbitrary<Uint8Array> {
  const any = arbitraryMessage(schema).map((init) => toBinary(schema, create(schema, init)));
  return fc.oneof(any, fc.constantFrom(...sampleLedger().rows.map((row) => row[column])));
}
