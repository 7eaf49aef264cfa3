import { resolve } from "node:path";
import { type VerifyReport, VerifyReportSchema, toHex } from "@narthex/contracts";
import { verifyBundleFile } from "../bundle/verify-bundle-file.ts";
import { verifyHome } from "../connection/verify-home.ts";
import { EXIT_LEDGER_BROKEN, EXIT_OK, EXIT_UNREADABLE } from "../terminal/exit-code.ts";
import { messageToJson } from "../terminal/message-json.ts";
import { createProgressBar } from "../terminal/progress-bar.ts";
import { renderFacts } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { formatCount } from "../terminal/units.ts";
import { visible } from "../terminal/visible.ts";
import type { Command } from "./command.ts";
import { readKeptCheckpoint } from "./held-checkpoint.ts";

const PROBLEMS_SHOWN = 20;

export const ledgerVerifyCommand: Command = {
  details:
    "Reads every record and all content again, with code of its own, and checks hashes, order, commitments, proofs of " +
    "decisions and the signed checkpoints of the log. Integrity: nothing that is there was changed. Completeness: nothing is " +
    "missing. Whoever can write the whole home could have written all of it anew: --key and --checkpoint say what you know of it " +
    "from elsewhere. Exit code 20 means broken, 30 unreadable.",
  arguments: [{ name: "[bundle]", description: "a file that `ledger export` wrote, instead of the home's ledger" }],
  options: [
    { flags: "--key <verifier-key>", description: "the key that signs the log, or did when you were told it" },
    {
      flags: "--checkpoint <file>",
      description: "a checkpoint that you kept; finds a ledger that was put back or forked",
      repeatable: true,
    },
  ],
  examples: [
    "narthex ledger verify",
    "narthex ledger verify --checkpoint kept-elsewhere.note",
    "narthex ledger verify --json",
    "narthex ledger verify session.bundle",
  ],

  async run(invocation) {
    const { terminal, signal, options } = invocation;
    const bar = createProgressBar(terminal, { label: "records" });
    let report: VerifyReport;
    try {
      const checkpoints = await Promise.all(options.texts("checkpoint").map(readKeptCheckpoint));
      const asked = { signal, verifierKey: options.text("key"), checkpoints, onProgress: bar.update };
      const [file] = invocation.arguments;
      report = await (file === undefined ? verifyHome(invocation, asked) : verifyBundleFile(resolve(file), asked));
    } finally {
      bar.finish();
    }
    if (terminal.json) terminal.printJson(messageToJson(VerifyReportSchema, report));
    else printVerifyReport(report, terminal);
    if (report.problems.some(({ code }) => code === "unreadable")) return EXIT_UNREADABLE;
    return report.intact && report.complete ? EXIT_OK : EXIT_LEDGER_BROKEN;
  },
};

function contentFact({ contentItems, erasedItems, leftOutItems }: VerifyReport): string {
  const leftOut = leftOutItems === 0n ? "" : `, ${formatCount(leftOutItems)} left out`;
  return `${formatCount(contentItems)} items, ${formatCount(erasedItems)} erased${leftOut}`;
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
      ["content", `${contentFact(report)}${told("content")}`],
      ["commitments", troubled("commitments") ? "some are not opened, or open nothing" : "all of them are opened"],
      ["proofs", `${formatCount(report.proofs)} of decisions${told("proofs")}`],
      ["checkpoints", `${describeLog(report)}${told("log")}`],
      ["signatures", `${describeKey(report)}${told("signatures")}`],
      ["not yet proven", `the last ${formatCount(report.unprovenTail)} records`],
      ["head", toHex(report.headHash) || "none"],
    ]),
  );
  const [first] = report.problems;
  if (first === undefined) return;
  terminal.print("", paint.red(`first bad record: ${first.recordIndex}`));
  for (const { recordIndex, chain, kind, code, message } of report.problems.slice(0, PROBLEMS_SHOWN)) {
    terminal.print(visible(`  ${recordIndex}  ${chain || "-"}  ${kind}  ${code}: ${message}`));
  }
  const more = report.problems.length - PROBLEMS_SHOWN;
  if (more > 0) terminal.print(`  and ${more} more; --json lists them`);
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
