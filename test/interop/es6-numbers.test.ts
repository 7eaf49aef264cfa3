import assert from "node:assert/strict";
import { test } from "node:test";
import { es6Numbers } from "../../campaigns/es6-numbers.ts";

test("a million doubles have the published checksum of the ES6 number sequence", async () => {
  const { done, facts, failures } = await es6Numbers.run({ count: 1_000_000, seed: 0, progress: () => undefined });
  assert.deepEqual(failures, []);
  assert.equal(done, 1_000_000);
  assert.deepEqual(
    facts.map(([name]) => name),
    [
      "SHA-256 of the first 1000 lines",
      "SHA-256 of the first 10000 lines",
      "SHA-256 of the first 100000 lines",
      "SHA-256 of the first 1000000 lines",
    ],
  );
});

test("a number of lines without a published checksum is a failure, not a pass", async () => {
  const { done, failures } = await es6Numbers.run({ count: 1_500, seed: 0, progress: () => undefined });
  assert.equal(done, 1_500);
  assert.equal(failures.length, 1);
});
