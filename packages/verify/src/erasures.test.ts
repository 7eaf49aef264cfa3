import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Erasures } from "./erasures.ts";

test("an item that was not erased has no explanation", () => {
  const erasures = new Erasures();
  erasures.note(5, 1);
  assert.equal(erasures.explain(5, 2), false);
  assert.equal(erasures.explain(6, 1), false);
  assert.equal(erasures.explain(5, 99), false);
  assert.equal(erasures.explain(2 ** 50, 1), false);
});

test("explains an item once", () => {
  const erasures = new Erasures();
  erasures.note(5, 1);
  assert.equal(erasures.explain(5, 1), true);
  assert.equal(erasures.explain(5, 1), false);
  assert.deepEqual([...erasures.unexplained()], []);
});

test("the remainder is exactly what was noted and not explained", () => {
  const item = fc.tuple(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 0, max: 40 }));
  fc.assert(
    fc.property(fc.uniqueArray(item, { selector: String }), fc.array(item), (noted, explained) => {
      const erasures = new Erasures();
      const model = new Set<string>();
      for (const [index, position] of noted) {
        erasures.note(index, position);
        model.add(`${index}/${position}`);
      }
      for (const [index, position] of explained) {
        assert.equal(erasures.explain(index, position), model.delete(`${index}/${position}`));
      }
      assert.deepEqual(new Set([...erasures.unexplained()].map(({ index, item: at }) => `${index}/${at}`)), model);
    }),
  );
});
