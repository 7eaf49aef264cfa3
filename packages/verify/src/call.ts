import type { ContentRole } from "@narthex/contracts";

/** How far a call has come. */
export type CallStep =
  | "begun"
  | "invoked"
  | "checked"
  | "permitted"
  | "asked"
  | "approved"
  | "started"
  /** Authority, policy or a person said no: only an outcome can follow. */
  | "refused"
  | "settled"
  | "ended";

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
  requestCommitment: Uint8Array = NONE;
  proofCommitment: Uint8Array = NONE;
  /** Commitments of earlier records of this call. */
  opened: readonly OpenedCommitment[] = [];
}

const NONE = new Uint8Array(0);

/** A commitment that an earlier record made. */
export interface OpenedCommitment {
  readonly role: ContentRole;
  readonly commitment: Uint8Array;
  /** The bytes were there, and right. */
  readonly present: boolean;
  /** How many the item said they are. */
  readonly size: number;
}
