export type { FileBytes, LedgerRow, LedgerSource } from "./ledger-source.ts";
export { PROBLEM_KINDS, type ProblemCode, type ProblemKind, type VerifyProblem } from "./problem.ts";
export { type VerifyOptions, type VerifyProgress, verifyLedger } from "./verify-ledger.ts";
export type { VerifyReport } from "./verify-report.ts";
