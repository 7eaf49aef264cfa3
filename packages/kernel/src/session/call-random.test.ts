import assert from "node:assert/strict";
import { test } from "node:test";
import { blake3, toHex, utf8 } from "@narthex/contracts";
import * as fc from "fast-check";
import { createCallRandom } from "./call-random.ts";
import { logicalTimeMs } from "./logical-time.ts";

const SEED = new Uint8Array(32).fill(5);

test("rejects invalid lengths", () => {
  const random = createCallRandom(SEED, 1);
  for (const length of [-1, 0.5, Number.NaN, 1_048_577, Number.POSITIVE_INFINITY]) {
    assert.throws(() => random.bytes(length), { code: "RESOURCE_EXCEEDED" });
  }
  assert.equal(random.bytes(0).length, 0);
  assert.throws(() => createCallRandom(new Uint8Array(16), 1).bytes(1), { code: "INTERNAL" });
});

test("a block is BLAKE3 of tag, seed, call number and block number", () => {
  const input = Buffer.alloc(80);
  input.set(utf8("narthex/random/v1"));
  input.set(SEED, 32);
  input.writeBigUInt64BE(258n, 64);
  const first = blake3(new Uint8Array(input));
  input.writeBigUInt64BE(1n, 72);
  const second = blake3(new Uint8Array(input));
  assert.equal(toHex(createCallRandom(SEED, 258).bytes(64)), toHex(first) + toHex(second));
});

test("the stream of a seed and call number never changes", () => {
  assert.equal(
    toHex(createCallRandom(SEED, 1).bytes(40)),
    "1d6c0250d92b1896af7f49c3c462acd293e42b21dfdbe572f1bd2cca8ddeaa96953eb014a2e13b37",
  );
});

test("different seeds and call numbers give different streams", () => {
  const streams = [
    createCallRandom(SEED, 1),
    createCallRandom(SEED, 2),
    createCallRandom(SEED, 2 ** 40),
    createCallRandom(new Uint8Array(32), 1),
  ].map((random) => toHex(random.bytes(16)));
  assert.equal(new Set(streams).size, streams.length);
});

test("the stream does not depend on the requested lengths, and returned bytes belong to the caller", () => {
  const whole = toHex(createCallRandom(SEED, 9).bytes(2000));
  fc.assert(
    fc.property(fc.array(fc.nat(70), { maxLength: 25 }), (lengths) => {
      const random = createCallRandom(SEED, 9);
      const parts = lengths.map((length) => {
        const bytes = random.bytes(length);
        const hex = toHex(bytes);
        bytes.fill(0);
        return hex;
      });
      assert.ok(whole.startsWith(parts.join("")));
    }),
  );
});

test("the logical clock starts after its epoch and moves one second per call", () => {
  assert.equal(logicalTimeMs(1), Date.parse("2000-01-01T00:00:01Z"));
  assert.equal(logicalTimeMs(2) - logicalTimeMs(1), 1000);
});
