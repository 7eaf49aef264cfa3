import { randomInt } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { formatCount } from "../../packages/narthex/src/terminal/units.ts";
import type { Campaign, CampaignOutcome } from "../campaign.ts";
import { createCampaignProgress } from "./campaign-progress.ts";
import { describeMachine, type MachineFacts } from "./describe-machine.ts";
import { findCampaigns } from "./find-campaigns.ts";
import { type CampaignArguments, parseArguments, USAGE, UsageError } from "./parse-arguments.ts";
import { writeReport } from "./write-report.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const FAILED = 1;
const MISUSED = 2;
const INTERRUPTED = 130;

/** Thrown inside a campaign by its own `progress`. */
class Interruption extends Error {
  override readonly message = "interrupted";
}

let interrupted = false;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    // Who asks twice does not want to wait for anything to be put away.
    if (interrupted) process.exit(INTERRUPTED);
    interrupted = true;
    say("interrupted: putting away what was started; no report is written (once more to end at once)");
  });
}

process.exitCode = await main(process.argv.slice(2));

async function main(words: readonly string[]): Promise<number> {
  let chosen: readonly Campaign[];
  let options: CampaignArguments;
  try {
    options = parseArguments(words, { campaigns: join(ROOT, "campaigns"), reports: join(ROOT, "docs/reports") });
    chosen = choose(await findCampaigns(options.campaigns), options.names);
  } catch (fault) {
    if (!(fault instanceof UsageError)) throw fault;
    say(`${fault.message}\nusage: ${USAGE}`);
    return MISUSED;
  }
  const facts = describeMachine(ROOT);
  const failed: string[] = [];
  for (const campaign of chosen) {
    const passed = await runOne(campaign, options, facts);
    if (interrupted) return INTERRUPTED;
    if (!passed) failed.push(campaign.name);
  }
  if (failed.length > 0) say(`failed: ${failed.join(", ")}`);
  return failed.length > 0 ? FAILED : 0;
}

function choose(all: readonly Campaign[], names: readonly string[]): readonly Campaign[] {
  const unknown = names.filter((name) => !all.some((campaign) => campaign.name === name));
  if (unknown.length === 0) return all.filter(({ name }) => names.length === 0 || names.includes(name));
  const known = all.map((campaign) => campaign.name).join(", ");
  throw new UsageError(`no campaign is called \`${unknown.join("`, `")}\`; there are: ${known}`);
}

async function runOne(campaign: Campaign, options: CampaignArguments, facts: MachineFacts): Promise<boolean> {
  const { name, unit } = campaign;
  const count = options.count ?? campaign.full;
  const seed = options.seed ?? randomInt(2 ** 32);
  const startedAt = new Date();
  const startedMs = performance.now();
  say(`${name}: ${campaign.title} (${formatCount(count)} ${unit}, seed ${seed})`);
  const progress = createCampaignProgress(
    { isTerminal: process.stderr.isTTY, write: (text) => void process.stderr.write(text) },
    { name, unit, total: count },
  );
  const outcome = await outcomeOf(campaign, {
    count,
    seed,
    progress(done) {
      if (interrupted) throw new Interruption();
      progress.update(done);
    },
  });
  progress.finish();
  if (interrupted) return false;
  const seconds = (performance.now() - startedMs) / 1000;
  const report = await writeReport(
    options.reports,
    { campaign, outcome, count, seed, seconds, startedAt, facts },
    ROOT,
  );
  for (const failure of outcome.failures) say(`  ${failure}`);
  const rate = formatCount(Math.round(outcome.done / seconds));
  const verdict = outcome.failures.length === 0 ? "passed" : "FAILED";
  say(`${verdict} ${name}: ${formatCount(outcome.done)} ${unit} in ${seconds.toFixed(1)} s (${rate}/s), see ${report}`);
  return outcome.failures.length === 0;
}

/** What a campaign throws is a failure like any other, and is reported. */
async function outcomeOf(campaign: Campaign, round: Parameters<Campaign["run"]>[0]): Promise<CampaignOutcome> {
  let done = 0;
  const counted = {
    ...round,
    progress(now: number): void {
      done = now;
      round.progress(now);
    },
  };
  try {
    const outcome = await campaign.run(counted);
    if (outcome.done >= round.count) return outcome;
    return { ...outcome, failures: [...outcome.failures, `only ${outcome.done} of ${round.count} were done`] };
  } catch (fault) {
    const told = fault instanceof Error ? (fault.stack ?? fault.message) : String(fault);
    return { done, facts: [], failures: [`the campaign broke off: ${told}`] };
  }
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
