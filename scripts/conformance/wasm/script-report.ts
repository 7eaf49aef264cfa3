/** The results of one script's commands. */
export interface ScriptReport {
  passed: number;
  readonly alike: string[];
  readonly rejected: Map<string, number>;
  readonly skipped: Map<string, number>;
  readonly different: string[];
}

export function showReport(report: ScriptReport): string {
  const parts = [`passed alike ${report.passed}`];
  if (report.rejected.size > 0) parts.push(`rejected ${sum(report.rejected)} (${showCounts(report.rejected)})`);
  if (report.skipped.size > 0) parts.push(`skipped ${sum(report.skipped)} (${showCounts(report.skipped)})`);
  if (report.alike.length > 0) parts.push(`alike, but not as the suite says ${report.alike.length}`);
  parts.push(`different ${report.different.length}`);
  return parts.join(", ");
}

/** The totals over all scripts. */
export function addReports(reports: readonly ScriptReport[]): ScriptReport {
  const total: ScriptReport = { passed: 0, alike: [], rejected: new Map(), skipped: new Map(), different: [] };
  for (const report of reports) {
    total.passed += report.passed;
    total.alike.push(...report.alike);
    total.different.push(...report.different);
    for (const [reason, count] of report.rejected)
      total.rejected.set(reason, (total.rejected.get(reason) ?? 0) + count);
    for (const [reason, count] of report.skipped) total.skipped.set(reason, (total.skipped.get(reason) ?? 0) + count);
  }
  return total;
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((left, right) => left + right, 0);
}

function showCounts(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([reason, count]) => `${reason} ${count}`).join(", ");
}
