import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { blake3, toHex } from "@narthex/contracts";
import { hashEdited } from "./hash-edited.ts";

describe("the hash of an edited file", () => {
  it("is that of the result, wherever the pieces are cut", async () => {
    const text = "one needle, two needles, needle";
    const offsets = [...text.matchAll(/needle/g)].map(({ index }) => index);
    for (const replacement of ["", "pin", "a much longer text than before"]) {
      const expected = toHex(blake3(Buffer.from(text.replaceAll("needle", replacement))));
      for (let size = 1; size <= text.length; size++) {
        const edit = { offsets, oldLength: "needle".length, text: Buffer.from(replacement) };
        assert.equal(await hashEdited(cut(Buffer.from(text), size), edit), expected, `${size}`);
      }
    }
  });
});

async function* cut(bytes: Buffer, size: number): AsyncGenerator<Uint8Array, void> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}
