import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import * as fc from "fast-check";
import { Check } from "typebox/schema";
import { compileSchema } from "../packages/kernel/src/schema/compile-schema.ts";
import { arbitraryInstance, arbitrarySchema } from "../packages/kernel/src/schema/testing/arbitrary-schema.ts";
import type { Campaign } from "./campaign.ts";
import { Findings } from "./chance/findings.ts";

/** What is found is made small within one batch. */
const BATCH = 250;
const DEPTHS = [2, 3, 4];

/** The kernel's validator against another one. */
export const schema: Campaign = {
  name: "schema",
  title:
    "Random schemas and values: the kernel's validator takes exactly what another implementation takes, and names a problem for everything else.",
  unit: "schemas",
  sample: 2000,
  full: 500_000,
  async run(round) {
    const findings = new Findings();
    for (let done = 0; done < round.count; done += BATCH) {
      round.progress(done);
      await turn();
      const depth = DEPTHS[(done / BATCH) % DEPTHS.length] ?? 3;
      // Deterministic in the seed and the place of the batch, whatever the count is.
      const seed = (round.seed + done) | 0;
      const numRuns = Math.min(BATCH, round.count - done);
      const details = fc.check(agreement(depth, findings), { seed, numRuns });
      if (details.failed) findings.fail(`batch at ${done}: ${fc.defaultReportMessage(details) ?? "failed"}`);
    }
    return findings.outcome(round.count);
  },
};

/** The other implementation applies `unevaluatedProperties` to arrays and is no judge of those two keywords. */
function agreement(depth: number, findings: Findings) {
  const values = fc.array(arbitraryInstance, { minLength: 1, maxLength: 4 });
  return fc.property(arbitrarySchema(depth), values, (candidate, instances) => {
    const compiled = compileSchema(candidate);
    for (const instance of instances) {
      const violations = compiled.check(instance);
      const expected = typeof candidate === "boolean" ? candidate : Check(candidate, instance);
      assert.equal(violations.length === 0, expected, `${JSON.stringify(candidate)} on ${JSON.stringify(instance)}`);
      findings.count(expected ? "values taken" : "values refused");
    }
  });
}
