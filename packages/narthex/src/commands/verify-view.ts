import { toHex, type VerifyReport } from "@narthex/contracts";
import { renderFacts } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { formatCount, formatCounted, formatTime } from "../terminal/units.ts";
import { visible } from "../terminal/visible.ts";

const MAX_SHOWN_PROBLEMS = 20;

function contentFact({ contentItems, erasedItems, leftOutItems }: VerifyReport): string {
  const leftOut = leftOutItems === 0n ? "" : `, ${formatCount(leftOutItems)} left out`;
  return `${formatCounted(contentItems, "item")}, ${formatCount(erasedItems)} erased${leftOut}`;
}

const NO_CONTENT: [string, string] = [
  "content",
  "left out: nothing is said of it, of commitments, or of proofs of decisions",
];

function contentFacts(report: VerifyReport, noteProblem: (area: string) => string): [string, string][] {
  const unopened = report.areas.includes("commitments");
  return [
    ["content", `${contentFact(report)}${noteProblem("content")}`],
    ["commitments", unopened ? "some are not opened, or open nothing" : "all of them are opened"],
    ["proofs", `${formatCount(report.proofs)} of decisions${noteProblem("proofs")}`],
  ];
}

export function printVerifyReport(report: VerifyReport, terminal: Terminal): void {
  const { paint } = terminal;
  const sound = report.intact && report.complete;
  const hasProblem = (area: string): boolean => report.areas.includes(area);
  const noteProblem = (area: string): string => (hasProblem(area) ? "; not all of it is right" : "");
  terminal.print(sound ? paint.green("the ledger is sound") : paint.red("the ledger is broken"));
  terminal.print(
    ...renderFacts(
      [
        ["integrity", report.intact ? "nothing was changed" : "something was changed"],
        ["completeness", report.complete ? "nothing is missing" : "something is missing"],
        [
          "records",
          `${formatCount(report.records)} in ${formatCounted(report.chains, "chain")}${noteProblem("records")}`,
        ],
        ...describeBefore(report),
        ...(report.recordsOnly ? [NO_CONTENT] : contentFacts(report, noteProblem)),
        ...(sound && isUnsigned(report) ? [NOT_SIGNED] : signedFacts(report, noteProblem)),
        ["head", toHex(report.headHash) || "none"],
      ],
      terminal.columns,
    ),
  );
  if (report.notRemembered !== "") terminal.print("", `nothing was remembered for --resume: ${report.notRemembered}`);
  for (const index of report.log?.keyLosses ?? []) {
    terminal.print("", paint.yellow(`a key was begun at record ${index} that no key before it handed over to`));
  }
  const [first] = report.problems;
  if (first === undefined) return;
  terminal.print("", paint.red(`first bad record: ${first.recordIndex}`));
  for (const { recordIndex, chain, kind, code, message } of report.problems.slice(0, MAX_SHOWN_PROBLEMS)) {
    terminal.print(visible(`  ${recordIndex}  ${chain || "-"}  ${kind}  ${code}: ${message}`));
  }
  const more = report.problems.length - MAX_SHOWN_PROBLEMS;
  if (more > 0) terminal.print(`  and ${more} more; --json lists them`);
}

/** Whether no checkpoint covers the ledger yet, which is normal for a new ledger. */
function isUnsigned({ log, areas }: VerifyReport): boolean {
  const { checkpoints = 0n, keptCheckpoints = 0n } = log ?? {};
  return checkpoints === 0n && keptCheckpoints === 0n && !areas.includes("log");
}

const NOT_SIGNED: [string, string] = [
  "checkpoints",
  "not yet signed: a kernel that runs signs within a minute, `narthex ledger checkpoint` at once",
];

function signedFacts(report: VerifyReport, noteProblem: (area: string) => string): [string, string][] {
  const { unprovenTail: tail } = report;
  return [
    ["checkpoints", `${describeCheckpoints(report)}${noteProblem("log")}`],
    ["signatures", `${describeKey(report)}${noteProblem("signatures")}`],
    ["not yet signed", tail === 0n ? "no record" : `the last ${formatCounted(tail, "record")}`],
  ];
}

/** SECURITY: states what was not read again, or the report would claim more than was verified. */
function describeBefore({ records, verifiedBefore: before }: VerifyReport): [string, string][] {
  if (before === undefined) return [];
  const [read, trusted] = [formatCounted(records - before.records, "record"), formatCounted(before.records, "record")];
  const checkpoint = `with the checkpoint of ${formatCounted(before.checkpointSize, "record")}`;
  return [
    ["read now", `${read}; the log goes on from where it was`],
    ["not read again", `${trusted} that a run of ${formatTime(before.verifiedAtMs)} read, ${checkpoint}`],
  ];
}

function describeCheckpoints({ log }: VerifyReport): string {
  if (log === undefined || log.checkpoints === 0n) return "none that proves anything";
  const kept = log.keptCheckpoints > 0n ? `, ${formatCount(log.keptCheckpoints)} of those you kept` : "";
  const missing = log.tilesMissing > 0n ? `, ${formatCount(log.tilesMissing)} tiles missing` : "";
  const agree = log.checkpoints === 1n ? "agrees" : "agree";
  return `${formatCount(log.checkpoints)} ${agree} with the records, up to record ${log.provenSize - 1n}${kept}${missing}`;
}

function describeKey({ log }: VerifyReport): string {
  if (log === undefined || log.verifierKey === "") return "none";
  const trusted = log.keyTrusted ? "the key you trust" : "the ledger's own word; --key says which you trust";
  return `${visible(log.verifierKey)} (${trusted})`;
}
