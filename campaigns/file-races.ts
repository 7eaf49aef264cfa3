import { raceAgainstSwaps, type SwapRaceOutcome } from "../packages/host/src/files/testing/race-against-swaps.ts";
import type { Campaign } from "./campaign.ts";
import { Findings } from "./chance/findings.ts";

/** File operations on paths that another process exchanges for links to the outside all the time. */
export const fileRaces: Campaign = {
  name: "file-races",
  title:
    "Reads, writes, edits, deletes, moves and lists on a directory and a file that are exchanged for links to the outside all the time: every one ends inside or fails, and a plain read of the same path is fooled.",
  unit: "operations",
  sample: 400,
  full: 600_000,
  async run({ count, progress }) {
    const findings = new Findings();
    // With the outside mounted nothing but the way paths are walked keeps operations inside; without, the sandbox too.
    const mounted = Math.ceil(count / 2);
    let done = 0;
    for (const [canary, tries] of [
      ["mounted", mounted],
      ["outside", count - mounted],
    ] as const) {
      const before = done;
      const outcome = await raceAgainstSwaps({
        tries,
        canary,
        progress: (now) => progress(before + Math.min(now, tries)),
      });
      done += Math.min(outcome.tries, tries);
      judge(findings, outcome, canary === "mounted" ? "outside in the sandbox too" : "outside not in the sandbox");
    }
    return findings.outcome(done);
  },
};

function judge(findings: Findings, { ends, fooled, escapes }: SwapRaceOutcome, place: string): void {
  for (const escape of escapes) findings.fail(`${place}: ${escape}`);
  for (const [end, times] of ends) findings.count(`${place}: ended with ${end}`, times);
  findings.fact(`${place}: operations that got out`, escapes.length);
  findings.fact(`${place}: plain reads that were fooled meanwhile`, fooled);
  if (fooled === 0) findings.fail(`${place}: nobody was fooled, so there was no race`);
}
