import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { findCampaigns } from "../../campaigns/runner/find-campaigns.ts";
import { REPOSITORY } from "../../scripts/checks/run-tool.ts";
import { RUNS_ALL } from "../sampled.ts";

/** Always the same sample; `npm run campaign` takes another seed each time. */
const SEED = 20_260_801;
const NAMES = [
  "budgets",
  "canonical",
  "cedar",
  "chain",
  "clients",
  "covers",
  "decoder",
  "es6-numbers",
  "file-races",
  "frames",
  "guard-races",
  "kills",
  "schema",
  "wasm-meter",
] as const;

/** Of campaigns whose rounds are alike, a part of their sample. */
const PARTS: ReadonlyMap<string, number> = new Map([
  ["budgets", 300],
  ["canonical", 4000],
  ["cedar", 1600],
  ["clients", 3],
  ["covers", 4000],
  ["decoder", 3000],
  // A million are tried in test/interop/es6-numbers.test.ts.
  ["es6-numbers", 1000],
  ["frames", 250],
  ["schema", 1000],
]);

const campaigns = await findCampaigns(join(REPOSITORY, "campaigns"));

test("every campaign is listed here and runs a sample", () => {
  const found = campaigns.map((campaign) => campaign.name);
  assert.deepEqual(found, [...NAMES]);
});

for (const name of NAMES) {
  test(`campaign ${name}: a sample finds no violation`, async (context) => {
    const campaign = campaigns.find((one) => one.name === name) ?? assert.fail(`there is no campaign ${name}`);
    const count = RUNS_ALL ? campaign.sample : (PARTS.get(name) ?? campaign.sample);
    let told = 0;
    const outcome = await campaign.run({ count, seed: SEED, progress: () => void told++ });
    assert.deepEqual(outcome.failures, []);
    assert.ok(outcome.done >= count, `${outcome.done} of ${count}`);
    assert.ok(outcome.facts.length > 0, "nothing was seen");
    assert.ok(told > 0, "no progress was told, so that nobody could interrupt it");
    assert.ok(campaign.full >= count);
    for (const [fact, value] of outcome.facts) context.diagnostic(`${fact}: ${value}`);
  });
}
