import { join, resolve } from "node:path";
import { judge } from "./harness/judge.ts";
import { listFamilies, loadFamily } from "./harness/load-family.ts";
import { type BenchOptions, HELP, parseOptions } from "./harness/options.ts";
import { CACHE, chooseScratch, REPOSITORY } from "./harness/places.ts";
import { renderTerminal, wantsColours } from "./harness/render-terminal.ts";
import type { FamilyReport } from "./harness/report.ts";
import { runFamily } from "./harness/run-family.ts";
import { readReports, writeDocs, writeRaw } from "./harness/write-reports.ts";

process.exitCode = await main(process.argv.slice(2));

async function main(words: readonly string[]): Promise<number> {
  let options: BenchOptions;
  try {
    options = parseOptions(words);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}; npm run bench -- --help tells more`);
    return 2;
  }
  if (options.help) {
    console.log(HELP);
    return 0;
  }
  const docs = resolve(options.docsDirectory ?? join(REPOSITORY, "docs", "bench"));
  if (options.redraw) {
    writeDocs(docs, readReports(docs));
    return 0;
  }
  const directory = resolve(options.familiesDirectory ?? join(REPOSITORY, "bench", "families"));
  const unknown = await findUnknown(options.families, directory);
  if (unknown !== undefined) {
    console.error(unknown);
    return 2;
  }
  const wanted = options.families.map((word) => word.split("/")[0]);
  const chosen = listFamilies(directory).filter((name) => wanted.length === 0 || wanted.includes(name));
  const reports = await runAll(chosen, directory, options);
  if (options.write) writeDocs(docs, reports);
  return reports.every(isGood) ? 0 : 1;
}

/** What is wrong with the words that name families and measurements; undefined if nothing is. */
async function findUnknown(words: readonly string[], directory: string): Promise<string | undefined> {
  const families = listFamilies(directory);
  for (const word of words) {
    const [name = "", measurement] = word.split("/", 2);
    if (!families.includes(name)) return `no family is called \`${name}\`; there are: ${families.join(", ")}`;
    const { measurements } = await loadFamily(join(directory, name));
    if (measurement !== undefined && !measurements.includes(measurement)) {
      return `no measurement of ${name} is called \`${measurement}\`; there are: ${measurements.join(", ")}`;
    }
  }
  return undefined;
}

async function runAll(names: readonly string[], directory: string, options: BenchOptions): Promise<FamilyReport[]> {
  const scratch = chooseScratch(options.directory);
  const rawDirectory = resolve(options.rawDirectory ?? join(CACHE, "results"));
  const hasColours = wantsColours(process.stdout, process.env);
  const say = (line: string): void => console.error(line);
  const reports: FamilyReport[] = [];
  for (const name of names) {
    const only = measurementsOf(name, options.families);
    const report = await runFamily({ ...options, name, directory: join(directory, name), only, scratch, say });
    console.log(renderTerminal(report, hasColours));
    reports.push(report);
    if (!options.write) say(`raw numbers: ${writeRaw(rawDirectory, report)}`);
  }
  return reports;
}

/** What follows the family's name and a slash; nothing if the whole family is named as well. */
function measurementsOf(family: string, words: readonly string[]): string[] {
  if (words.includes(family)) return [];
  return words.filter((word) => word.startsWith(`${family}/`)).map((word) => word.slice(family.length + 1));
}

function isGood({ measurements }: FamilyReport): boolean {
  return measurements.every(
    ({ failed, rows }) => failed === undefined && rows.every((row) => judge(row)?.met !== false),
  );
}
