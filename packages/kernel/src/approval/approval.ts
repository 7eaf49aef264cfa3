import type { JsonValue } from "@narthex/contracts";

/** The exact call a person is asked about. */
export interface ApprovalQuestion {
  readonly approvalId: string;
  readonly sessionId: string;
  readonly agent: string;
  readonly user: string;
  readonly workspace: string;
  readonly tool: string;
  readonly definitionHash: string;
  readonly input: JsonValue;
  readonly inputDigest: string;
  readonly policyHash: string;
  readonly ruleIds: readonly string[];
  /** `console` means that no other door may answer. */
  readonly kind: "human" | "console";
  readonly expiresAtMs: number;
}

export interface ApprovalAnswer {
  readonly approved: boolean;
  /** Who answered; shown in the ledger. */
  readonly approver: string;
  readonly reason?: string;
}
