export type { FileBytes, LedgerRow, LedgerSource, LogFiles } from "./ledger-source.ts";
export { type Checkpoint, parseCheckpoint } from "./log/checkpoint.ts";
export { type LogKey, parseLogKey } from "./log/log-key.ts";
export type { LogReport } from "./log/log-report.ts";
export { PROBLEM_KINDS, type ProblemArea, type ProblemCode, type ProblemKind, type VerifyProblem } from "./problem.ts";
export { type VerifyOptions, type VerifyProgress, verifyLedger } from "./verify-ledger.ts";
export type { VerifyReport } from "./verify-report.ts";
