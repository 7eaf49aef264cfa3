import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import * as fc from "fast-check";
import { OutputTap } from "./output-tap.ts";

test("what comes before the mark is the command's, wherever the pieces are cut and whatever looks like a mark", async () => {
  const mark = "abcabd";
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom("a", "b", "c", "ab", "abc", "abcab", "xyz"), { maxLength: 20 }),
      fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 40 }),
      async (parts, cuts) => {
        const printed = parts.join("");
        fc.pre(!`${printed}${mark}`.slice(0, -1).includes(mark));
        const source = new PassThrough();
        const tap = new OutputTap(source);
        const reader = tap.open();
        const marked = tap.endAt(mark);
        let rest = `${printed}${mark}behind`;
        for (let index = 0; rest !== ""; index++) {
          const length = cuts[index % cuts.length] ?? 1;
          source.write(rest.slice(0, length));
          rest = rest.slice(length);
        }
        assert.equal(await text(reader), printed);
        await marked;
        source.end();
        await new Promise((resolve) => source.once("end", resolve));
        assert.equal(tap.takeDropped(), "behind".length);
        assert.equal(tap.takeDropped(), 0);
      },
    ),
  );
});

test("a shell that ends in the middle of a mark ends what was being read, with all that came", async () => {
  const source = new PassThrough();
  const tap = new OutputTap(source);
  const reader = tap.open();
  void tap.endAt("mark");
  source.end("printed ma");
  assert.equal(await text(reader), "printed ma");
  assert.equal(await text(tap.open()), "");
});

test("a reader that is slow holds the shell back, and one that leaves does not", async () => {
  const source = new PassThrough();
  const tap = new OutputTap(source);
  const reader = tap.open();
  const piece = Buffer.alloc(16_384);
  let written = 0;
  while (source.write(piece) && written < 10_000_000) {
    written += piece.length;
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(written < 1_000_000, `${written} bytes were taken of a shell whose output nobody reads`);
  reader.destroy();
  source.end();
  await new Promise((resolve) => source.once("end", resolve));
});
