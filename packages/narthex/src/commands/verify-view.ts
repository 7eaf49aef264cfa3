import { toHex, type VerifyReport } from "@narthex/contracts";
import { renderFacts } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { formatCount, formatTime } from "../terminal/units.ts";
import { visible } from "../terminal/visible.ts";

const PROBLEMS_SHOWN = 20;

function contentFact({ contentItems, erasedItems, leftOutItems }: VerifyReport): string {
  const leftOut = leftOutItems === 0n ? "" : `, ${formatCount(leftOutItems)} left out`;
  return `${formatCount(contentItems)} items, ${formatCount(erasedItems)} erased${leftOut}`;
}

const NO_CONTENT: [string, string] = [
  "content",
  "left out: nothing is said of it, of commitments, or of proofs of decisions",
];

function contentFacts(report: VerifyReport, told: (area: string) => string): [string, string][] {
  const unopened = report.areas.includes("commitments");
  return [
    ["content", `${contentFact(report)}${told("content")}`],
    ["commitments", unopened ? "some are not opened, or open nothing" : "all of them are opened"],
    ["proofs", `${formatCount(report.proofs)} of decisions${told("proofs")}`],
  ];
}

export function printVerifyReport(report: VerifyReport, terminal: Terminal): void {
  const { paint } = terminal;
  const sound = report.intact && report.complete;
  const troubled = (area: string): boolean => report.areas.includes(area);
  const told = (area: string): string => (troubled(area) ? "; not all of it is right" : "");
  terminal.print(sound ? paint.green("the ledger is sound") : paint.red("the ledger is broken"));
  terminal.print(
    ...renderFacts([
      ["integrity", report.intact ? "nothing was changed" : "something was changed"],
      ["completeness", report.complete ? "nothing is missing" : "something is missing"],
      ["records", `${formatCount(report.records)} in ${formatCount(report.chains)} chains${told("records")}`],
      ...describeBefore(report),
      ...(report.recordsOnly ? [NO_CONTENT] : contentFacts(report, told)),
      ["checkpoints", `${describeLog(report)}${told("log")}`],
      ["signatures", `${describeKey(report)}${told("signatures")}`],
      ["not yet proven", `the last ${formatCount(report.unprovenTail)} records`],
      ["head", toHex(report.headHash) || "none"],
    ]),
  );
  if (report.notRemembered !== "") terminal.print("", `nothing was remembered for --resume: ${report.notRemembered}`);
  for (const index of report.log?.keyLosses ?? []) {
    terminal.print("", paint.yellow(`a key was begun at record ${index} that no key before it handed over to`));
  }
  const [first] = report.problems;
  if (first === undefined) return;
  terminal.print("", paint.red(`first bad record: ${first.recordIndex}`));
  for (const { recordIndex, chain, kind, code, message } of report.problems.slice(0, PROBLEMS_SHOWN)) {
    terminal.print(visible(`  ${recordIndex}  ${chain || "-"}  ${kind}  ${code}: ${message}`));
  }
  const more = report.problems.length - PROBLEMS_SHOWN;
  if (more > 0) terminal.print(`  and ${more} more; --json lists them`);
}

/** SECURITY: what was not read is said, or the report would say more than is known. */
function describeBefore({ records, verifiedBefore: before }: VerifyReport): [string, string][] {
  if (before === undefined) return [];
  const [read, trusted] = [formatCount(records - before.records), formatCount(before.records)];
  const checkpoint = `with the checkpoint of ${formatCount(before.checkpointSize)} records`;
  return [
    ["read now", `${read} records; the log goes on from where it was`],
    ["not read again", `${trusted} records that a run of ${formatTime(before.verifiedAtMs)} read, ${checkpoint}`],
  ];
}

function describeLog({ log }: VerifyReport): string {
  if (log === undefined || log.checkpoints === 0n) return "none that proves anything";
  const kept = log.keptCheckpoints > 0n ? `, ${formatCount(log.keptCheckpoints)} of those you kept` : "";
  const missing = log.tilesMissing > 0n ? `, ${formatCount(log.tilesMissing)} tiles missing` : "";
  return `${formatCount(log.checkpoints)} agree with the records, up to record ${log.provenSize - 1n}${kept}${missing}`;
}

function describeKey({ log }: VerifyReport): string {
  if (log === undefined || log.verifierKey === "") return "none";
  const trusted = log.keyTrusted ? "the key you trust" : "the ledger's own word; --key says which you trust";
  return `${visible(log.verifierKey)} (${trusted})`;
}
