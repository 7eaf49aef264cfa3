import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findOccurrences, linesOf } from "./find-occurrences.ts";

describe("finding a text", () => {
  it("agrees with looking at every place, for all short texts of two letters", () => {
    const texts = (length: number): string[] =>
      length === 0 ? [""] : texts(length - 1).flatMap((text) => [`${text}a`, `${text}b`]);
    for (const text of [...texts(8), ...texts(9)]) {
      for (const wanted of [1, 2, 3, 4].flatMap(texts)) {
        const found = findOccurrences(Buffer.from(text), Buffer.from(wanted), 100);
        const starts = Array.from({ length: text.length }, (_, start) => start).filter((start) =>
          text.startsWith(wanted, start),
        );
        assert.equal(found.count, starts.length, `${wanted} in ${text}`);
        assert.deepEqual(found.starts, starts, `${wanted} in ${text}`);
        assert.equal(splice(text, found.offsets, wanted.length), text.replaceAll(wanted, "-"), `${wanted} in ${text}`);
      }
    }
  });

  it("counts on when there are more places than it keeps", () => {
    const { count, offsets, starts } = findOccurrences(Buffer.alloc(5000, "a"), Buffer.from("a"), 10);
    assert.deepEqual([count, offsets.length, starts.length], [5000, 11, 1000]);
  });

  it("knows the line of each place", () => {
    assert.deepEqual(linesOf(Buffer.from("a\nb\n\nc"), [0, 1, 2, 4, 5]), [1, 1, 2, 3, 4]);
  });
});

function splice(text: string, offsets: readonly number[], length: number): string {
  let [result, kept] = ["", 0];
  for (const offset of offsets) {
    result += `${text.slice(kept, offset)}-`;
    kept = offset + length;
  }
  return result + text.slice(kept);
}
