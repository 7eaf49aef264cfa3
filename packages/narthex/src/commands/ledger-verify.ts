import { type VerifyReport, VerifyReportSchema, toHex } from "@narthex/contracts";
import { verifyHome } from "../connection/verify-home.ts";
import { EXIT_LEDGER_BROKEN, EXIT_OK, EXIT_UNREADABLE } from "../terminal/exit-code.ts";
import { messageToJson } from "../terminal/message-json.ts";
import { createProgressBar } from "../terminal/progress-bar.ts";
import { renderFacts } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { formatCount } from "../terminal/units.ts";
import { visible } from "../terminal/visible.ts";
import type { Command } from "./command.ts";

const PROBLEMS_SHOWN = 20;

export const ledgerVerifyCommand: Command = {
  details:
    "Reads every record and all content again, with code of its own, and checks hashes, order and commitments. Integrity: " +
    "nothing that is there was changed. Completeness: nothing is missing. Exit code 20 means broken, 30 unreadable.",
  examples: ["narthex ledger verify", "narthex ledger verify --json"],

  async run(invocation) {
    const { terminal, signal } = invocation;
    const bar = createProgressBar(terminal, { label: "records" });
    let report: VerifyReport;
    try {
      report = await verifyHome(invocation, { signal, onProgress: bar.update });
    } finally {
      bar.finish();
    }
    if (terminal.json) terminal.printJson(messageToJson(VerifyReportSchema, report));
    else printReport(report, terminal);
    if (report.problems.some(({ code }) => code === "unreadable")) return EXIT_UNREADABLE;
    return report.intact && report.complete ? EXIT_OK : EXIT_LEDGER_BROKEN;
  },
};

function printReport(report: VerifyReport, terminal: Terminal): void {
  const { paint } = terminal;
  const sound = report.intact && report.complete;
  terminal.print(sound ? paint.green("the ledger is sound") : paint.red("the ledger is broken"));
  terminal.print(
    ...renderFacts([
      ["integrity", report.intact ? "nothing was changed" : "something was changed"],
      ["completeness", report.complete ? "nothing is missing" : "something is missing"],
      ["records", `${formatCount(report.records)} in ${formatCount(report.chains)} chains`],
      ["content", `${formatCount(report.contentItems)} items, ${formatCount(report.erasedItems)} erased`],
      ["not yet signed", `the last ${formatCount(report.unprovenTail)} records`],
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
