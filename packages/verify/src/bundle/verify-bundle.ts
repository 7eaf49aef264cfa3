import { PROBLEM_AREAS, PROBLEM_KINDS, type ProblemCode, type VerifyProblem } from "../problem.ts";
import { verifyLedger } from "../verify-ledger.ts";
import type { VerifyOptions } from "../walk-ledger.ts";
import type { VerifyReport } from "../verify-report.ts";
import { BundleFault } from "./bundle-file.ts";
import { checkBundledTree } from "./check-bundled-tree.ts";
import type { Bundle } from "./open-bundle.ts";

/** Verifies a whole bundle like a ledger, and checks that no byte of it has changed. */
export async function verifyBundle(bundle: Bundle, options: VerifyOptions = {}): Promise<VerifyReport> {
  const { signal, onProgress, trustedKey } = options;
  const { chain } = bundle;
  // Without the records of other sessions, the tree cannot be computed from the records alone.
  const alone = { ...(signal && { signal }), ...(onProgress && { onProgress }) };
  const report = await verifyLedger(bundle.source, chain === "" ? options : alone);
  if (report.problems.some(({ code }) => code === "unreadable")) return report;
  const problem = (code: ProblemCode, message: string): VerifyProblem => ({
    recordIndex: 0,
    chain,
    kind: PROBLEM_KINDS[code],
    area: PROBLEM_AREAS[code],
    code,
    message,
  });
  const found: VerifyProblem[] = [];
  if (!(await bundle.isWhole(signal))) {
    found.push(problem("bundle_damaged", "the file is not as it was written: the hash at its end is another one"));
  }
  if (chain === "") return withProblems(report, found);
  try {
    const { log, unprovenTail, problems } = await checkBundledTree(bundle, trustedKey);
    for (const { code, message } of problems) found.push(problem(code, message));
    return withProblems({ ...report, log, unprovenTail }, found);
  } catch (fault) {
    if (!(fault instanceof BundleFault)) throw fault;
    return withProblems(report, [...found, problem("unreadable", fault.message)]);
  }
}

function withProblems(report: VerifyReport, found: readonly VerifyProblem[]): VerifyReport {
  if (found.length === 0) return report;
  return {
    ...report,
    intact: false,
    areas: [...new Set([...report.areas, ...found.map(({ area }) => area)])],
    problems: [...report.problems, ...found],
    problemCount: report.problemCount + found.length,
  };
}
