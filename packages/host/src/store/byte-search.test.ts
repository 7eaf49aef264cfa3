import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ByteSearch } from "./byte-search.ts";

test("finds what is there, and nothing else, whatever it is looked for together with", () => {
  const bytes = fc.uint8Array({ minLength: 4, maxLength: 12, max: 3 });
  fc.assert(
    fc.property(
      fc.array(bytes, { minLength: 1, maxLength: 20 }),
      fc.uint8Array({ maxLength: 200, max: 3 }),
      (needles, held) => {
        const expected = needles.some((needle) => Buffer.from(held).includes(Buffer.from(needle)));
        assert.equal(new ByteSearch(needles).isIn(Buffer.from(held)), expected);
      },
    ),
  );
});

test("takes nothing that is too short to mean anything", () => {
  assert.throws(() => new ByteSearch([Uint8Array.of(1, 2, 3)]), /four bytes/);
  assert.equal(new ByteSearch([]).isIn(Buffer.from("anything")), false);
});
