import { type JsonValue, toHex } from "@narthex/contracts";
import type { Effect, SafetyTier } from "../tool/tool.ts";
import type { ApprovalKind } from "./approval.ts";
import type { ApprovalScope } from "./approval-scope.ts";
import { type ApprovedFile, filesKey } from "./approved-files.ts";

/** The fields that an approval is bound to, and others that are shown to users. */
export interface ApprovalSubject {
  readonly kind: ApprovalKind;
  readonly sessionId: string;
  /** The session at the root of the delegation chain; the session itself if it has no parent. */
  readonly rootSessionId: string;
  readonly requestId: string;
  readonly tenant: string;
  readonly agent: string;
  readonly user: string;
  readonly workspace: string;
  /** The session's own directory in the workspace. */
  readonly directory: string;
  readonly tool: string;
  /** The action of the policy request. */
  readonly action: string;
  /** The tool is part of Narthex, and changes only with Narthex. */
  readonly isBuiltin: boolean;
  readonly definitionHash: Uint8Array;
  readonly input: JsonValue;
  readonly inputBytes: number;
  readonly inputDigest: Uint8Array;
  readonly policyHash: Uint8Array;
  readonly ruleIds: readonly string[];
  readonly messages: readonly string[];
  /** The `@approve("always")` rules among `ruleIds`: a session approval never covers such a call. */
  readonly always: readonly string[];
  readonly tier: SafetyTier;
  readonly effects: readonly Effect[];
  readonly labels: readonly string[];
  /** The scope that a session approval would cover; undefined for exactly this input. */
  readonly scope: ApprovalScope | undefined;
  /** Files of the workspace that the call would run, in their current state. */
  readonly files: readonly ApprovedFile[];
}

/**
 * Returns a key of everything that an approval is bound to.
 *
 * SECURITY: every field that an approval is bound to is part of the key; after a change in any of them the approval no
 * longer matches. The policy is represented by its decision: an approval stays valid if the policy changes and decides
 * the same.
 */
export function toBindingKey(subject: ApprovalSubject): string {
  const files = subject.files.length === 0 ? "" : ` ${filesKey(subject.files)}`;
  return `${toHex(subject.inputDigest)} ${toSessionBindingKey(subject)}${files}`;
}

/** Returns the input digest in such a key, as hex. */
export function inputDigestOfKey(key: string): string {
  return key.slice(0, key.indexOf(" "));
}

/** Returns a key of what a session approval is bound to: the same without the input. */
export function toSessionBindingKey({ sessionId, tool, kind, definitionHash, ruleIds }: ApprovalSubject): string {
  return JSON.stringify([sessionId, tool, kind, toHex(definitionHash), ...ruleIds]);
}
