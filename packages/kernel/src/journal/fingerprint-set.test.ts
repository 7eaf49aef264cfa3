import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { FingerprintSet } from "./fingerprint-set.ts";

const word = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 0xffffffff }), fc.constant(0xffffffff));

test("reports every member as possible, and others only if they share a fingerprint", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(word, word), { maxLength: 200 }),
      fc.array(fc.tuple(word, word)),
      (members, others) => {
        const set = new FingerprintSet();
        // The pair (0, 0) shares its place with (0, 1).
        const nameOf = ([low, high]: readonly [number, number]) => (low === 0 && high === 0 ? "0 1" : `${low} ${high}`);
        const model = new Set<string>();
        for (const pair of members) {
          set.add(...pair);
          model.add(nameOf(pair));
          assert.equal(set.size, model.size);
        }
        for (const pair of [...members, ...others]) assert.equal(set.has(...pair), model.has(nameOf(pair)));
      },
    ),
  );
});

test("an empty set contains nothing, not even zero", () => {
  assert.equal(new FingerprintSet().has(0, 0), false);
  assert.equal(new FingerprintSet().has(0, 1), false);
});

test("finds a hundred thousand members, including those that collide in one slot", () => {
  const set = new FingerprintSet();
  for (let i = 0; i < 100_000; i++) set.add(i % 8 === 0 ? 7 * 65_536 : i, i + 1);
  assert.equal(set.size, 100_000);
});
