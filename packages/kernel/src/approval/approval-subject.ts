import type { JsonValue } from "@narthex/contracts";

/** What an approval is bound to: it is good for exactly this and nothing else. */
export interface ApprovalSubject {
  readonly kind: "human" | "console";
  readonly sessionId: string;
  readonly agent: string;
  readonly user: string;
  readonly workspace: string;
  readonly tool: string;
  readonly definitionHash: Uint8Array;
  readonly input: JsonValue;
  readonly inputDigest: Uint8Array;
  readonly policyHash: Uint8Array;
  readonly ruleIds: readonly string[];
}
