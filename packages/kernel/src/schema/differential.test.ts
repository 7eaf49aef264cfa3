import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { Check } from "typebox/schema";
import { runsOf } from "../../../../test/sampled.ts";
import { compileSchema } from "./compile-schema.ts";
import { arbitraryInstance, arbitrarySchema } from "./testing/arbitrary-schema.ts";

// The other implementation applies `unevaluatedProperties` to arrays and is no judge of those two keywords.
it("agrees with another implementation on random schemas and values, with and without reporting", () => {
  fc.assert(
    fc.property(
      arbitrarySchema(3),
      fc.array(arbitraryInstance, { minLength: 1, maxLength: 4 }),
      (candidate, values) => {
        const compiled = compileSchema(candidate);
        for (const one of values) {
          const violations = compiled.check(one);
          const expected = typeof candidate === "boolean" ? candidate : Check(candidate, one);
          assert.equal(violations.length === 0, expected, `${JSON.stringify(candidate)} on ${JSON.stringify(one)}`);
        }
      },
    ),
    { numRuns: runsOf(2_000) },
  );
});
