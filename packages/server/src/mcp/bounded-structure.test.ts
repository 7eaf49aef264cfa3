import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import fc from "fast-check";
import { boundStructure } from "./bounded-structure.ts";

const sizeOf = (value: JsonObject): number => Buffer.byteLength(JSON.stringify(value));

test("keeps a structure that fits", () => {
  const value = { text: "x".repeat(900), cut: false };
  assert.equal(boundStructure(value, 1000), value);
});

test("cuts long texts on a character, with their size, and the object beside them says so", () => {
  const value = { stdout: { text: "é".repeat(5000), cut: false, size: 10_000 }, stderr: { text: "short", cut: false } };
  const bounded = boundStructure(value, 1000);
  assert.ok(bounded !== undefined && sizeOf(bounded) <= 1000 && sizeOf(bounded) > 900);
  const { stdout, stderr } = bounded as typeof value;
  assert.match(stdout.text, /^é+\n\[output truncated — original size: 10,000 bytes\]$/);
  assert.deepEqual([stdout.cut, stdout.size, stderr], [true, 10_000, value.stderr]);
});

test("shortens long lists if cutting texts is not enough, and omits a structure that is still too large", () => {
  const value = { matches: Array.from({ length: 2000 }, (_, line) => ({ line, text: "match" })) };
  const bounded = boundStructure(value, 2000);
  assert.ok(bounded !== undefined && sizeOf(bounded) <= 2000);
  assert.deepEqual(bounded["matches"], value.matches.slice(0, (bounded as typeof value).matches.length));
  const wide = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`key${index}`, index]));
  assert.equal(boundStructure(wide, 1000), undefined);
});

test("for any structure the response has at most the limit of bytes and the same fields", () => {
  const json = fc.jsonValue({ maxDepth: 3 });
  fc.assert(
    fc.property(fc.dictionary(fc.string(), json), fc.string({ maxLength: 4000 }), (fields, text) => {
      const value = { ...fields, text } as JsonObject;
      const bounded = boundStructure(value, 1024);
      if (bounded === undefined) return;
      assert.ok(sizeOf(bounded) <= 1024);
      assert.deepEqual(Object.keys(bounded), Object.keys(value));
    }),
    { numRuns: 200 },
  );
});
