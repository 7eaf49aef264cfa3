import { parseArgs } from "node:util";

export interface BenchOptions {
  /** Empty means all. */
  readonly families: readonly string[];
  readonly rounds: number;
  readonly scale: number;
  readonly write: boolean;
  /** Only draw what is kept. */
  readonly redraw: boolean;
  readonly help: boolean;
  readonly familiesDirectory: string | undefined;
  readonly docsDirectory: string | undefined;
  /** Where raw numbers go that are not kept. */
  readonly rawDirectory: string | undefined;
  /** A family has so long. */
  readonly minutes: number;
  /** Where homes and files of a run are made. */
  readonly directory: string | undefined;
}

const FULL_ROUNDS = 5;
const MINUTES = 3;

export const HELP = `npm run bench -- [FAMILY | FAMILY/MEASUREMENT ...] [OPTIONS]

Measures Narthex beside what people would use instead, in one run, and prints a table for each family: at most three
minutes a family. Ratios are medians over interleaved rounds; absolute figures are the best of ${FULL_ROUNDS} rounds.

  --write            keep the numbers: docs/bench/FAMILY.json, docs/bench/FAMILY.md and docs/bench/ratios.svg;
                     without it only raw numbers are written, to --raw
  --redraw           measure nothing: write tables and picture again from the numbers that are kept
  --rounds N         rounds to keep, ${FULL_ROUNDS} by default
  --scale F          a number up to 1: shorter rounds and smaller ledgers, for a quick look (1 by default)
  --directory DIR    where homes and files are made; the system's temporary folder if that is on a disk
  --families DIR     where the families are; bench/families by default
  --docs DIR         where --write writes; docs/bench by default
  --raw DIR          where raw numbers go without --write; node_modules/.cache/narthex-bench/results by default
  --minutes M        how long a family may take, ${MINUTES} by default; what is not done by then has failed
  --help

Exit codes: 0 every bar was met, 1 a bar was missed or a measurement failed, 2 the command was typed wrongly.`;

/** Reads the command's words; throws a sentence for whoever typed them. */
export function parseOptions(words: readonly string[]): BenchOptions {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      write: { type: "boolean", default: false },
      redraw: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
      rounds: { type: "string", default: String(FULL_ROUNDS) },
      scale: { type: "string", default: "1" },
      directory: { type: "string" },
      families: { type: "string" },
      docs: { type: "string" },
      raw: { type: "string" },
      minutes: { type: "string", default: String(MINUTES) },
    },
  });
  const rounds = Number(values.rounds);
  const scale = Number(values.scale);
  const minutes = Number(values.minutes);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error("--rounds takes a whole number from 1 on");
  if (!(scale > 0 && scale <= 1)) throw new Error("--scale takes a number above 0 and up to 1");
  if (!(minutes > 0)) throw new Error("--minutes takes a number above 0");
  if (values.write && (rounds < FULL_ROUNDS || scale < 1)) {
    throw new Error(`--write keeps full runs only: leave out --scale, and --rounds below ${FULL_ROUNDS}`);
  }
  if (values.write && positionals.some((word) => word.includes("/"))) {
    throw new Error("--write keeps whole families only: leave out /MEASUREMENT");
  }
  return {
    families: positionals,
    rounds,
    scale,
    write: values.write,
    redraw: values.redraw,
    help: values.help,
    familiesDirectory: values.families,
    docsDirectory: values.docs,
    rawDirectory: values.raw,
    minutes,
    directory: values.directory,
  };
}
