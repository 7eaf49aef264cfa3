import type { AgentClient } from "./agent-client.ts";
import type { Check } from "./check.ts";
import type { Outcome } from "./outcome.ts";

/** One client's column: its results, or why it was not run. */
export interface ClientReport {
  readonly client: AgentClient;
  readonly result: ReadonlyMap<string, Outcome> | { readonly problem: string };
}

export function isProblem(report: ClientReport): boolean {
  if ("problem" in report.result) return true;
  return [...report.result.values()].some(({ kind }) => kind === "fail");
}

/** Checks down, clients across, at most 80 columns; the reasons of failures follow. */
export function showTable(reports: readonly ClientReport[], checks: readonly Check[]): string {
  const heads = ["", ...reports.map(({ client }) => client.name)];
  const rows = checks.map(({ name }) => [name, ...reports.map((report) => showCell(report, name))]);
  const widths = heads.map((head, column) =>
    Math.max(...[head, ...rows.map((row) => row[column] ?? "")].map((cell) => cell.length)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return [heads, ...rows].map(line).join("\n");
}

/** The table for the documentation. */
export function showMarkdown(reports: readonly ClientReport[], checks: readonly Check[]): string {
  const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const heads = reports.map(({ client }) => `${client.title} ${client.version}`);
  const remarks = listRemarks(reports, checks);
  return [
    row(["", ...heads]),
    `|${"---|".repeat(heads.length + 1)}`,
    ...checks.map(({ name, title }) =>
      row([`**${name}**: ${title}`, ...reports.map((report) => showCell(report, name))]),
    ),
    ...(remarks.length > 0 ? ["", ...remarks.map((remark) => `- ${remark}`)] : []),
  ].join("\n");
}

/** Details for the cells: reasons of failures, of unsupported checks, and measurements. */
export function listRemarks(reports: readonly ClientReport[], checks: readonly Check[]): readonly string[] {
  return reports.flatMap(({ client, result }) => {
    if ("problem" in result) return [`${client.title}: not installed: ${result.problem}`];
    return checks.flatMap(({ name }) => {
      const outcome = result.get(name);
      const text = outcome === undefined ? undefined : outcome.kind === "pass" ? outcome.note : outcome.reason;
      return text === undefined ? [] : [`${client.title}, ${name}: ${text}`];
    });
  });
}

function showCell({ result }: ClientReport, check: string): string {
  if ("problem" in result) return "not installed";
  const outcome = result.get(check);
  if (outcome === undefined) return "-";
  if (outcome.kind === "unsupported") return "not supported";
  return outcome.kind === "pass" ? "pass" : "FAIL";
}
