import type { StateChange } from "../ports.ts";

/** What is written down before anyone is asked. */
export interface RequestedApproval {
  readonly approvalId: string;
  readonly expiresAtMs: number;
  readonly row: StateChange;
}

export interface ApprovalWait {
  /** Aborts when nobody waits for the call any more. */
  readonly signal: AbortSignal | undefined;
  /** At most so long, and never longer than the kernel keeps a caller waiting. */
  readonly waitMs: number;
  /** Makes the question durable, before it is asked. */
  requested(approval: RequestedApproval): Promise<void>;
}
