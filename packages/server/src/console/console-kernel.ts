import type { Kernel } from "@narthex/kernel";

/** What the console asks of a kernel. */
export type ConsoleKernel = Pick<
  Kernel,
  | "listApprovals"
  | "resolveApproval"
  | "revokeApproval"
  | "watchApprovals"
  | "policyFacts"
  | "unsafeWorkspaces"
  | "tailRecords"
  | "recordCount"
  | "getSession"
  | "refuse"
>;
