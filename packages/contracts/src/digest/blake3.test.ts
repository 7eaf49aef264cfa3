import assert from "node:assert/strict";
import { test } from "node:test";
import { blake3 as hashNative } from "@napi-rs/blake-hash";
import { hash as hashPortable } from "blake3-jit";
import { blake3, createBlake3 } from "./blake3.ts";
import { toHex } from "./bytes.ts";

/** The official test vectors: byte i of the input is i modulo 251. */
const VECTORS: readonly (readonly [number, string])[] = [
  [0, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"],
  [1, "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213"],
  [1023, "10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11"],
  [1024, "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7"],
  [1025, "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444"],
  [2048, "e776b6028c7cd22a4d0ba182a8bf62205d2ef576467e838ed6f2529b85fba24a"],
  [2049, "5f4d72f40d7a5f82b15ca2b2e44b1de3c2ef86c426c95c1af0b6879522563030"],
  [102400, "bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085"],
];

function input(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => i % 251);
}

test("hashes are those of the official vectors", () => {
  for (const [length, expected] of VECTORS) {
    assert.equal(toHex(blake3(input(length))), expected, `${length} bytes`);
    assert.equal(toHex(hashPortable(input(length))), expected, `${length} bytes, portable`);
    assert.equal(hashNative(input(length)).toString("hex"), expected, `${length} bytes, native`);
  }
});

test("hashes and their arrays stay the same once a program has made many", () => {
  const early = [0, 10, 2048, 2049].map((length) => blake3(input(length)));
  for (let made = 0; made < 3000; made++) blake3(input(10));
  const late = [0, 10, 2048, 2049].map((length) => blake3(input(length)));
  assert.deepEqual(late, early);
  for (const digest of [...early, ...late]) {
    assert.equal(Object.getPrototypeOf(digest), Uint8Array.prototype);
    assert.equal(digest.buffer.byteLength, 32);
  }
});

test("both implementations agree at every length", () => {
  const all = input(1_000_003);
  const lengths = [4096, 65_536, 65_537, 999_999, 1_000_003];
  for (let length = 1; length <= 4096; length += 2) lengths.push(length);
  for (const length of lengths) {
    const bytes = all.subarray(0, length);
    assert.equal(toHex(hashPortable(bytes)), hashNative(bytes).toString("hex"), `${length} bytes`);
  }
});

test("a stream's hash does not depend on how it was cut", () => {
  const whole = input(10_000);
  for (const size of [1, 7, 1000, 2047, 2048, 2049, 4096, 10_000]) {
    const stream = createBlake3();
    for (let at = 0; at < whole.length; at += size) stream.update(whole.subarray(at, at + size));
    assert.deepEqual(stream.digest(), blake3(whole), `pieces of ${size}`);
  }
});

test("a short stream is hashed too, and so is an empty one", () => {
  assert.deepEqual(createBlake3().digest(), blake3(new Uint8Array(0)));
  const stream = createBlake3();
  stream.update(input(2000));
  stream.update(new Uint8Array(0));
  stream.update(input(48));
  assert.deepEqual(stream.digest(), blake3(Buffer.concat([input(2000), input(48)])));
});

test("a chunk may be reused after it was given", () => {
  const stream = createBlake3();
  const chunk = input(100);
  stream.update(chunk);
  chunk.fill(0);
  assert.deepEqual(stream.digest(), blake3(input(100)));
});

test("a view is hashed as what it shows", () => {
  assert.deepEqual(blake3(input(5000).subarray(10, 60)), blake3(input(5000).slice(10, 60)));
  assert.deepEqual(blake3(Buffer.from("abc")), blake3(new TextEncoder().encode("abc")));
});
