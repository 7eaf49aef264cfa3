import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { equalBytes, fromHex, toHex, utf8 } from "./bytes.ts";

test("text that is not hex is no bytes", () => {
  for (const text of ["0", "abc", "0x", "zz", " 00", "00 ", "0g", "00\n", "é0", "-1", "+1", "1.", "aa\0a"]) {
    assert.equal(fromHex(text), undefined, JSON.stringify(text));
  }
});

test("hex is read in either case and written in lower case", () => {
  assert.deepEqual(fromHex("00fFAb"), Uint8Array.of(0, 255, 0xab));
  assert.deepEqual(fromHex(""), new Uint8Array(0));
  assert.equal(toHex(Uint8Array.of(0, 255, 0xab)), "00ffab");
  assert.equal(toHex(Uint8Array.of(1, 2, 3, 4).subarray(1, 3)), "0203");
});

test("every array of bytes survives hex", () => {
  fc.assert(fc.property(fc.uint8Array(), (bytes) => assert.deepEqual(fromHex(toHex(bytes)), bytes)));
});

test("bytes are equal only if all of them are", () => {
  const bytes = Uint8Array.from({ length: 32 }, (_, i) => i);
  assert.equal(equalBytes(bytes, bytes.slice()), true);
  assert.equal(equalBytes(bytes, bytes.subarray(1)), false);
  assert.equal(equalBytes(new Uint8Array(0), new Uint8Array(0)), true);
  for (let i = 0; i < 32; i++) {
    const other = bytes.slice();
    other[i] = 0x80 | i;
    assert.equal(equalBytes(bytes, other), false, `byte ${i}`);
  }
});

test("text becomes UTF-8 in an array of its own", () => {
  const bytes = utf8("aé€😀");
  assert.equal(toHex(bytes), "61c3a9e282acf09f9880");
  assert.equal(bytes.buffer.byteLength, bytes.length);
});

test("short and long texts and arrays take different ways to the same form", () => {
  for (const length of [0, 1, 63, 64, 65, 200]) {
    const bytes = Uint8Array.from({ length }, (_, i) => i * 7);
    assert.equal(toHex(bytes), Buffer.from(bytes).toString("hex"));
    for (const text of ["x".repeat(length), `${"x".repeat(length)}é`, "\ud800".repeat(length)]) {
      const encoded = utf8(text);
      assert.deepEqual(encoded, new TextEncoder().encode(text));
      assert.equal(encoded.buffer.byteLength, encoded.length);
    }
  }
});
