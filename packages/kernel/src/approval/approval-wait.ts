import type { StateChange } from "../ports.ts";

/** What is recorded before a user is asked. */
export interface RequestedApproval {
  readonly approvalId: string;
  readonly expiresAtMs: number;
  readonly row: StateChange;
}

export interface ApprovalWait {
  /** Aborts when no caller waits for the call any more. */
  readonly signal: AbortSignal | undefined;
  /** Maximum time to wait; the kernel's own limit applies as well. */
  readonly waitMs: number;
  /** Makes the request durable, before a user is asked. */
  requested(approval: RequestedApproval): Promise<void>;
}
