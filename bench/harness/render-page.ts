import type { FamilyReport } from "./report.ts";
import { COLUMNS, tableLines } from "./table-cells.ts";

/** A family's table as a page of the documentation. */
export function renderPage(report: FamilyReport): string {
  const { facts } = report;
  const notes = report.measurements.flatMap((measurement) => measurement.notes ?? []);
  const packages = Object.entries(facts.packages).map(([name, version]) => `${name} ${version}`);
  return [
    `# ${report.family}`,
    "",
    report.title,
    "",
    `Written by \`npm run bench -- ${report.family} --write\`. Ratios are medians over ${report.rounds} interleaved rounds of one run,`,
    `absolute figures the best of ${report.rounds}; every round's figures are in [${report.family}.json](${report.family}.json).`,
    "",
    row(COLUMNS),
    row(COLUMNS.map(() => "---")),
    ...tableLines(report).map(({ cells }) => row(cells)),
    "",
    ...notes.map((note) => `- ${note}`),
    ...(notes.length > 0 ? [""] : []),
    `${facts.date}, commit ${facts.commit}, Node ${facts.node}, ${facts.cpu}, ${facts.cores} cores, ${facts.memoryGb} GB,`,
    `${facts.system}, ${facts.fileSystem}, load ${facts.loadBefore} before, ${report.seconds.toFixed(0)} s.`,
    ...(packages.length > 0 ? [`With ${packages.join(", ")}.`] : []),
    "",
  ].join("\n");
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}
