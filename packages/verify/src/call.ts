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
  /** Authority, policy or a person said no: only an outcome can follow. */
  "refused",
  "settled",
  "ended",
] as const;

/** How far a call has come. */
export type CallStep = (typeof CALL_STEPS)[number];

/** What is remembered of a call between its records. */
export class Call {
  step: CallStep = "begun";
  decisions = 0;
  started = false;
  /** It was started with leave to have effects. */
  intent = false;
  /** The policy in force asks for a person's yes. */
  needsApproval = false;
  approved = false;
  /** The yes it has, not used yet; empty if it has none, or rests on an answer for the session. */
  approvalId = "";
  /** The commitments its outcome has to repeat. */
  requestCommitment: Slice = NO_BYTES;
  proofCommitment: Slice = NO_BYTES;
  /** Commitments of earlier records of this call. */
  opened: readonly OpenedCommitment[] = [];
}

/** A commitment that an earlier record made. */
export interface OpenedCommitment {
  readonly role: ContentRole;
  readonly commitment: Slice;
  /** The bytes were there, and right. */
  readonly present: boolean;
  /** How many the item said they are. */
  readonly size: number;
}
