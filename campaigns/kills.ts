import { killRounds } from "../test/crash/rounds/kill-rounds.ts";
import type { Campaign } from "./campaign.ts";

/** One home in each is worked on while the other is looked at. */
const LANES = 2;

export const kills: Campaign = {
  name: "kills",
  title:
    "kill kernels under load at every stage and at any moment; no answer is lost, nothing happens twice, and the next one starts",
  unit: "kills",
  // Up to the first at closing. The places after it are tried one by one in test/crash/stage-boundaries.test.ts.
  sample: 3,
  full: 1000,
  async run({ count, seed, progress }) {
    const found = await killRounds({ kills: count, seed, lanes: LANES, progress });
    const { findings } = found;
    return {
      done: found.kills,
      failures: found.failures,
      facts: [
        ...[...found.killsBy].map(([place, kills]) => [`killed at ${place}`, kills] as const),
        ["homes", found.homes],
        ["calls made", found.issued],
        ["calls acknowledged", found.acknowledged],
        ["acknowledged answers asked for again", findings.repeated],
        ["acknowledged answers lost", findings.lost],
        ["effects that happened", findings.effects],
        ["effects that happened twice", findings.twice],
        ["unanswered and not in the ledger", findings.absent],
        ["unanswered and recorded", findings.recorded],
        ["outcome unknown", findings.unknown],
        ["outcome unknown, and had happened", findings.happened],
      ],
    };
  },
};
