import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { findCampaigns } from "../../campaigns/runner/find-campaigns.ts";
import { REPOSITORY } from "../../scripts/checks/run-tool.ts";

/** Always the same sample; `npm run campaign` takes another seed each time. */
const SEED = 20_260_801;
const NAMES = [
  "budgets",
  "canonical",
  "cedar",
  "chain",
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

const campaigns = await findCampaigns(join(REPOSITORY, "campaigns"));

test("every campaign is listed here, so that a sample of it runs", () => {
  const found = campaigns.map((campaign) => campaign.name);
  assert.deepEqual(found, [...NAMES]);
});

for (const name of NAMES) {
  test(`campaign ${name}: a sample finds nothing that does not hold`, async (context) => {
    const campaign = campaigns.find((one) => one.name === name) ?? assert.fail(`there is no campaign ${name}`);
    const { sample: count } = campaign;
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
