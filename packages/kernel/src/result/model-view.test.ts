import assert from "node:assert/strict";
import { test } from "node:test";
import { blake3, toHex, utf8 } from "@narthex/contracts";
import * as fc from "fast-check";
import { createModelView } from "./model-view.ts";

const viewOf = (bytes: Uint8Array, maxBytes: number, size = bytes.length) =>
  createModelView({ type: "string", digest: blake3(bytes), size, head: bytes }, maxBytes);

test("a view of text holds as many whole characters as fit, and says how to read on from there", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 50 }), fc.integer({ min: 1, max: 60 }), (text, maxBytes) => {
      const bytes = utf8(text);
      const { text: view, cut } = viewOf(bytes, maxBytes);
      assert.equal(cut, bytes.length > maxBytes);
      if (!cut) {
        assert.equal(view, text);
        return;
      }
      const page =
        /^([^]*)\n\[the whole result is ([0-9a-f]{64}); read on with result_read \{"hash":"\2","offset":(\d+)\}\]\n\[output truncated — original size: ([\d,]+) bytes\]$/.exec(
          view,
        );
      const [, shown = "", hash, offset, size] = page ?? assert.fail(view);
      assert.equal(hash, toHex(blake3(bytes)));
      assert.equal(size, String(bytes.length));
      assert.equal(Number(offset), utf8(shown).length);
      assert.ok(utf8(shown).length <= maxBytes && utf8(shown).length > maxBytes - 4);
      assert.equal(shown + Buffer.from(bytes.subarray(Number(offset))).toString(), text);
    }),
  );
});

test("the last line is exact, with grouped digits", () => {
  const { text } = viewOf(utf8("x".repeat(142_857)), 10);
  assert.equal(text.split("\n").at(-1), "[output truncated — original size: 142,857 bytes]");
});

test("a head that is only the beginning is cut even if all of it would fit", () => {
  const { text, cut } = viewOf(utf8("beginning"), 100, 5_000_000);
  assert.equal(cut, true);
  assert.ok(text.startsWith("beginning\n["));
  assert.ok(text.endsWith("5,000,000 bytes]"));
});

test("bytes that are not text are named, not shown", () => {
  for (const bytes of [
    Uint8Array.of(0xff, 0xfe),
    Uint8Array.of(0xc3),
    Uint8Array.of(0x61, 0x80),
    Uint8Array.of(0xed, 0xa0, 0x80),
  ]) {
    const { text, cut } = viewOf(bytes, 100);
    assert.equal(text, `[${bytes.length} bytes that are not text; hash ${toHex(blake3(bytes))}]`);
    assert.equal(cut, false);
  }
});

test("a byte order mark and an empty result are shown as they are", () => {
  assert.deepEqual(viewOf(utf8("\ufefftext"), 100), { text: "\ufefftext", cut: false });
  assert.deepEqual(viewOf(new Uint8Array(0), 100), { text: "", cut: false });
});
