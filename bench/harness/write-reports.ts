import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { renderPage } from "./render-page.ts";
import { renderPicture } from "./render-picture.ts";
import type { FamilyReport } from "./report.ts";

const SUFFIX = ".json";

/** Keeps raw numbers only. */
export function writeRaw(directory: string, report: FamilyReport): string {
  mkdirSync(directory, { recursive: true });
  const file = join(directory, report.family + SUFFIX);
  writeFileSync(file, `${JSON.stringify(report, shorten, 1)}\n`);
  return file;
}

const DIGITS = 6;

/** More digits than any clock has are noise. */
function shorten(_key: string, value: unknown): unknown {
  return typeof value === "number" && Number.isFinite(value) ? Number(value.toPrecision(DIGITS)) : value;
}

/** Keeps numbers and tables, and draws the picture of these and all families kept before. */
export function writeDocs(directory: string, reports: readonly FamilyReport[]): void {
  const written = new Set(reports.map((report) => report.family));
  for (const report of reports) writeRaw(directory, report);
  // From what is kept, not from what was measured: a figure that was rounded twice would differ from its table.
  const kept = readReports(directory);
  for (const report of kept) {
    if (written.has(report.family)) writeFileSync(join(directory, `${report.family}.md`), renderPage(report));
  }
  writeFileSync(join(directory, "ratios.svg"), renderPicture(kept));
}

/** The families kept in a folder, by name. */
export function readReports(directory: string): FamilyReport[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((name) => name.endsWith(SUFFIX))
    .sort()
    .map((name) => JSON.parse(readFileSync(join(directory, name), "utf8")) as FamilyReport);
}
