import assert from "node:assert/strict";
import { test } from "node:test";
import { blake3, toHex, utf8 } from "@narthex/contracts";
import * as fc from "fast-check";
import { createModelView } from "./model-view.ts";
import type { ViewPart } from "./view-part.ts";

const viewOf = (bytes: Uint8Array, maxBytes: number, size = bytes.length) =>
  createModelView({ type: "string", digest: blake3(bytes), size, head: bytes }, { maxBytes });

const CUT_VIEW =
  /^([^]*?)\n?\[… ([\d,]+) bytes left out …\]\n([^]*)\n\[read on with result_read \{"hash":"([0-9a-f]{64})","offset":(\d+)\}\]\n\[output truncated — original size: ([\d,]+) bytes\]$/;

test("the view of a long text keeps whole characters of both ends, says what is omitted and how to read on", () => {
  const texts = fc.string({ unit: "grapheme", minLength: 200, maxLength: 900 });
  fc.assert(
    fc.property(texts, fc.integer({ min: 400, max: 1200 }), (made, maxBytes) => {
      const text = made.replaceAll(/\s/gu, "x");
      const bytes = utf8(text);
      const { text: view, cut } = viewOf(bytes, maxBytes);
      assert.equal(cut, bytes.length > maxBytes);
      if (!cut) {
        assert.equal(view, text);
        return;
      }
      assert.ok(utf8(view).length <= maxBytes, `${utf8(view).length} bytes of ${maxBytes}`);
      const [, head = "", left, tail = "", hash, offset, size] = CUT_VIEW.exec(view) ?? assert.fail(view);
      assert.equal(hash, toHex(blake3(bytes)));
      assert.equal(size, bytes.length.toLocaleString("en-US"));
      assert.equal(Number(offset), utf8(head).length);
      assert.ok(text.startsWith(head) && text.endsWith(tail));
      assert.equal(left, (bytes.length - utf8(head).length - utf8(tail).length).toLocaleString("en-US"));
    }),
  );
});

test("outputs of several streams share a view: a short one is whole, the others keep both ends", () => {
  const lines = (name: string): string => Array.from({ length: 3000 }, (_, line) => `${name} ${line}\n`).join("");
  const part = (name: string, text: string) => ({ text, size: text.length, hash: name.repeat(64), name });
  const view = (parts: readonly ViewPart[]) =>
    createModelView(
      { type: "object", digest: blake3(utf8("{}")), size: 2, head: utf8("{}") },
      { maxBytes: 16_384, parts },
    );
  assert.deepEqual(view(["exit code 1", part("a", "out\n"), "[stderr]", part("b", "err")]), {
    text: "exit code 1\nout\n[stderr]\nerr",
    cut: false,
  });
  const { text, cut } = view([
    "exit code 1",
    part("a", lines("a")),
    "[stderr]",
    part("b", "short"),
    part("c", lines("c")),
  ]);
  assert.equal(cut, true);
  assert.ok(text.length > 14_000 && utf8(text).length <= 16_384, `${text.length}`);
  for (const shown of ["exit code 1\na 0\n", "\na 2999\n[stderr]\nshort\nc 0\n", "\nc 2999\n[read on with "]) {
    assert.ok(text.includes(shown), shown);
  }
  assert.match(text, /result_read \{"hash":"a{64}","offset":\d+\} \(a\), or with result_read \{"hash":"c{64}"/);
  assert.ok(text.endsWith("[output truncated — original size: 39,785 bytes]"), text.slice(-60));
});

test("the last line is exact, with grouped digits", () => {
  const { text } = viewOf(utf8("x".repeat(142_857)), 10);
  assert.equal(text.split("\n").at(-1), "[output truncated — original size: 142,857 bytes]");
});

test("a head that is only the beginning is marked as cut even if all of it would fit", () => {
  const { text, cut } = viewOf(utf8("beginning"), 100, 5_000_000);
  assert.equal(cut, true);
  assert.ok(text.startsWith("beginning\n[… 4,999,991 bytes left out …]\n["), text);
  assert.ok(text.endsWith("5,000,000 bytes]"));
});

test("names binary content instead of showing it", () => {
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

test("names pictures, sounds and documents by their content, and shows text that only begins like one", () => {
  const png = Buffer.from(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000049454e44ae426082",
    "hex",
  );
  for (const [bytes, shown] of [
    [png, /^\[\d+ bytes of image\/png; hash [0-9a-f]{64}\]$/],
    [png.subarray(0, 30), /that are not text/],
    [utf8("%PDF-1.7\nall of it\n%%EOF\n"), /^\[\d+ bytes of application\/pdf; hash/],
    [utf8("%PDF-1.7 is what a PDF begins with"), /^%PDF-1.7 is what/],
    [utf8("GIF89a is a format"), /^GIF89a is a format$/],
  ] as const) {
    assert.match(viewOf(bytes, 1000).text, shown);
  }
  const numbered = createModelView(
    { type: "stream", digest: blake3(png), size: 20, head: utf8("%PDF-1.7\nline\n%%EOF\n") },
    { maxBytes: 1000, firstLine: 1 },
  );
  assert.equal(numbered.text, "     1\t%PDF-1.7\n     2\tline\n     3\t%%EOF\n");
});

test("shows a byte order mark and an empty result unchanged", () => {
  assert.deepEqual(viewOf(utf8("\ufefftext"), 100), { text: "\ufefftext", cut: false });
  assert.deepEqual(viewOf(new Uint8Array(0), 100), { text: "", cut: false });
});
