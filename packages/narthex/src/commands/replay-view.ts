import { type ReplayDivergence, type ReplayedCall, type ReplayReport, toHex } from "@narthex/contracts";
import { renderFacts } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { formatCount, formatCounted } from "../terminal/units.ts";
import { visible } from "../terminal/visible.ts";

/** Possible causes of a divergence, in words. */
const CAUSES: ReadonlyMap<string, string> = new Map([
  ["tool_changed", "the tool is another one than it was: another version, or another definition"],
  ["policy_changed", "the rules are not those that the decision was made by, or decide otherwise"],
  ["content_erased", "content that is needed was erased"],
  ["not_deterministic", "the tool is not as deterministic as it declares, or its code has changed"],
]);

export function printReplayedCall({ recordIndex, tool, requestId, ...call }: ReplayedCall, terminal: Terminal): void {
  const { finding, reason, divergence } = call;
  if (divergence !== undefined) printDivergence(divergence, terminal);
  else
    terminal.print(visible(`${recordIndex}  ${finding}${reason === "" ? "" : ` (${reason})`}  ${tool}  ${requestId}`));
}

export function printReplayReport(report: ReplayReport, terminal: Terminal): void {
  const { paint } = terminal;
  const [first] = report.divergences;
  const verdict =
    first === undefined ? paint.green("the same") : paint.red(`another outcome from record ${first.recordIndex} on`);
  terminal.print(`${verdict}  ${visible(report.sessionId)}`);
  const served = report.servedBy.map(({ reason, count }) => `${reason} ${formatCount(count)}`).join(", ");
  terminal.print(
    ...renderFacts([
      ["calls", formatCount(report.calls)],
      ["run again", formatCount(report.ran)],
      ["from the record", `${formatCount(report.served)}${served === "" ? "" : ` (${served})`}`],
      ["refused", formatCount(report.refused)],
      ...(report.open > 0n ? [["without an outcome", formatCount(report.open)] as const] : []),
      ["decisions made again", formatCount(report.decisions)],
      ["came out otherwise", formatCount(report.divergenceCount)],
      ["content digest", toHex(report.contentDigest) || "none: something of it was erased"],
      ["ledger", report.verified ? "verified first" : "not verified"],
    ]),
  );
}

/** Prints the total over several sessions, so that the result is the last line of a long list. */
export function printReplayTotal(reports: readonly ReplayReport[], terminal: Terminal): void {
  const sum = (count: (report: ReplayReport) => bigint): bigint =>
    reports.reduce((total, report) => total + count(report), 0n);
  const different = reports.filter(({ clean }) => !clean).length;
  const same = reports.length - different;
  const verdict =
    different === 0
      ? terminal.paint.green(`all ${formatCounted(reports.length, "session")} the same`)
      : terminal.paint.red(`${formatCounted(different, "session")} came out otherwise, ${formatCount(same)} the same`);
  const ran = formatCount(sum(({ ran: calls }) => calls));
  const served = formatCount(sum(({ served: calls }) => calls));
  const refused = formatCount(sum((report) => report.refused));
  terminal.print(
    "",
    `${verdict}: ${formatCounted(
      sum(({ calls }) => calls),
      "call",
    )}, ${ran} run again, ${served} from the record, ${refused} refused`,
  );
}

function printDivergence(found: ReplayDivergence, terminal: Terminal): void {
  const { recordIndex, tool, requestId, stage, expectedHash, foundHash, cause, message } = found;
  terminal.print(terminal.paint.red(visible(`record ${recordIndex}  ${tool}  ${requestId}  differs in ${stage}`)));
  terminal.print(
    ...renderFacts([
      ["  expected", toHex(expectedHash) || "-"],
      ["  found", toHex(foundHash) || "-"],
      ["  what", visible(message)],
      ["  likely cause", CAUSES.get(cause) ?? visible(cause)],
    ]),
  );
}
