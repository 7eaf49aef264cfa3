import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatCount } from "../../packages/narthex/src/terminal/units.ts";
import type { Campaign, CampaignOutcome } from "../campaign.ts";
import type { MachineFacts } from "./describe-machine.ts";

export interface CampaignRun {
  readonly campaign: Campaign;
  readonly outcome: CampaignOutcome;
  readonly count: number;
  readonly seed: number;
  readonly seconds: number;
  readonly startedAt: Date;
  readonly facts: MachineFacts;
}

/** Writes `YYYY-MM-DD-name.md`, whole or not at all, and gives its name. */
export async function writeReport(folder: string, run: CampaignRun, root: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const name = `${run.startedAt.toISOString().slice(0, 10)}-${run.campaign.name}.md`;
  const unfinished = join(folder, `.${name}.${process.pid}`);
  try {
    await writeFile(unfinished, withoutPlaces(renderReport(run), root));
    await rename(unfinished, join(folder, name));
  } catch (fault) {
    await rm(unfinished, { force: true });
    throw fault;
  }
  return name;
}

function renderReport({ campaign, outcome, count, seed, seconds, startedAt, facts }: CampaignRun): string {
  const rate = Math.round(outcome.done / Math.max(seconds, 0.001));
  const rows: readonly (readonly [string, string | number])[] = [
    ["result", outcome.failures.length === 0 ? "passed" : `FAILED (${outcome.failures.length})`],
    ["date", `${startedAt.toISOString().slice(0, 19).replace("T", " ")} UTC`],
    ["commit", facts.commit],
    ["machine", facts.machine],
    [campaign.unit, `${formatCount(outcome.done)} of ${formatCount(count)}`],
    ["seconds", `${seconds.toFixed(1)} (${formatCount(rate)} per second)`],
    ["repeat", `\`npm run campaign -- ${campaign.name} --count ${count} --seed ${seed}\``],
  ];
  return [
    `# Campaign: ${campaign.name}`,
    "",
    campaign.title,
    "",
    table(["", ""], rows),
    "",
    "## Seen",
    "",
    outcome.facts.length === 0 ? "Nothing was counted." : table(["what", "how many, or how much"], outcome.facts),
    "",
    "## Failures",
    "",
    outcome.failures.length === 0 ? "None." : outcome.failures.map((failure) => `- ${oneLine(failure)}`).join("\n"),
    "",
  ].join("\n");
}

function table(
  head: readonly [string, string],
  rows: ReadonlyArray<readonly [name: string, value: string | number]>,
): string {
  const lines = rows.map(([name, value]) => `| ${cell(name)} | ${cell(value)} |`);
  return [`| ${head[0]} | ${head[1]} |`, "|---|---|", ...lines].join("\n");
}

function cell(value: string | number): string {
  return typeof value === "number" ? formatNumber(value) : oneLine(value).replaceAll("|", "\\|");
}

function formatNumber(value: number): string {
  return Number.isInteger(value) ? formatCount(value) : String(value);
}

function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, " / ");
}

/** A report says nothing about where on a machine it was made. */
function withoutPlaces(text: string, root: string): string {
  return text.replaceAll(root.replace(/\/$/, ""), ".").replaceAll(tmpdir(), "TMP");
}
