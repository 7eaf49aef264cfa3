import type { ContentRole } from "@narthex/contracts";
import { NO_BYTES } from "./wire/message-layout.ts";
import type { Slice } from "./wire/slice.ts";

export const CALL_STEPS = [
  "begun",
  "invoked",
  "checked",
  "permitted",
  "asked",
  "approved",
  "started",
  /** The capability check, the policy or a person denied the call: only an outcome can follow. */
  "refused",
  "settled",
  "ended",
] as const;

/** The state of a call. */
export type CallStep = (typeof CALL_STEPS)[number];

/** The state of a call between its records. */
export class Call {
  step: CallStep = "begun";
  decisions = 0;
  started = false;
  /** The call was started with permission to have effects. */
  intent = false;
  /** The policy in force requires a person's approval. */
  needsApproval = false;
  approved = false;
  /** The call's approval that is not consumed yet; empty without one, or if a standing approval applies. */
  approvalId = "";
  /** The commitments that its outcome must repeat. */
  requestCommitment: Slice = NO_BYTES;
  proofCommitment: Slice = NO_BYTES;
  /** Commitments of earlier records of this call. */
  opened: readonly OpenedCommitment[] = [];
}

/** A commitment made by an earlier record. */
export interface OpenedCommitment {
  readonly role: ContentRole;
  readonly commitment: Slice;
  /** Whether the bytes were present and correct. */
  readonly present: boolean;
  /** The number of bytes that the item claimed. */
  readonly size: number;
}
