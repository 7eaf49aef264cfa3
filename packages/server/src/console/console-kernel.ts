import type { Kernel } from "@narthex/kernel";

/** The kernel methods that the console uses. */
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
