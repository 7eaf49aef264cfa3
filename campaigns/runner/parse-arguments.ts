import { parseArgs } from "node:util";

export interface CampaignArguments {
  /** Which campaigns to run; none means all. */
  readonly names: readonly string[];
  /** Instead of each campaign's full size. */
  readonly count: number | undefined;
  readonly seed: number | undefined;
  /** The folder whose files are campaigns. */
  readonly campaigns: string;
  /** Where reports are written. */
  readonly reports: string;
}

export const USAGE = `npm run campaign [-- NAME... [--count N] [--seed S] [--reports DIR]]`;

const HIGHEST_COUNT = 1_000_000_000;
const HIGHEST_SEED = 2 ** 32 - 1;

/** Words that do not say what to do. */
export class UsageError extends Error {}

export function parseArguments(
  words: readonly string[],
  defaults: Pick<CampaignArguments, "campaigns" | "reports">,
): CampaignArguments {
  const { values, positionals } = parse(words);
  return {
    names: [...new Set(positionals)],
    count: wholeNumber("--count", values.count, 1, HIGHEST_COUNT),
    seed: wholeNumber("--seed", values.seed, 0, HIGHEST_SEED),
    campaigns: values.campaigns ?? defaults.campaigns,
    reports: values.reports ?? defaults.reports,
  };
}

function parse(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        count: { type: "string" },
        seed: { type: "string" },
        campaigns: { type: "string" },
        reports: { type: "string" },
      },
    });
  } catch (fault) {
    throw new UsageError(fault instanceof Error ? fault.message : String(fault));
  }
}

function wholeNumber(option: string, text: string | undefined, least: number, most: number): number | undefined {
  if (text === undefined) return undefined;
  const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new UsageError(`${option} takes a whole number from ${least} to ${most}, not \`${text.slice(0, 40)}\``);
}
