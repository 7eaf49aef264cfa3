import { type VerifyOptions, verifyLedger } from "../verify-ledger.ts";
import type { VerifyProblem } from "../problem.ts";
import type { VerifyReport } from "../verify-report.ts";
import type { Bundle } from "./open-bundle.ts";

/** Reads a bundle from beginning to end, as a ledger is read, and whether it is as it was written. */
export async function verifyBundle(bundle: Bundle, options: VerifyOptions = {}): Promise<VerifyReport> {
  const report = await verifyLedger(bundle.source, options);
  const found: VerifyProblem[] = [];
  if (!(await bundle.isWhole(options.signal))) {
    const message = "the file is not as it was written: the hash at its end is another one";
    found.push({ recordIndex: 0, chain: bundle.chain, kind: "integrity", code: "bundle_damaged", message });
  }
  if (found.length === 0) return report;
  return {
    ...report,
    intact: false,
    problems: [...report.problems, ...found],
    problemCount: report.problemCount + found.length,
  };
}
