import { type JsonValue, toHex } from "@narthex/contracts";
import type { Effect, SafetyTier } from "../tool/tool.ts";
import type { ApprovalKind } from "./approval.ts";
import type { ApprovalScope } from "./approval-scope.ts";
import { type ApprovedFile, filesKey } from "./approved-files.ts";

/** What an approval is bound to, and what else a person is shown. */
export interface ApprovalSubject {
  readonly kind: ApprovalKind;
  readonly sessionId: string;
  /** The session that it was split off in the end; itself, if off none. */
  readonly rootSessionId: string;
  readonly requestId: string;
  readonly tenant: string;
  readonly agent: string;
  readonly user: string;
  readonly workspace: string;
  /** The session's own, in the workspace. */
  readonly directory: string;
  readonly tool: string;
  /** What policy was asked about. */
  readonly action: string;
  /** Code of Narthex itself, which changes only with Narthex. */
  readonly isBuiltin: boolean;
  readonly definitionHash: Uint8Array;
  readonly input: JsonValue;
  readonly inputBytes: number;
  readonly inputDigest: Uint8Array;
  readonly policyHash: Uint8Array;
  readonly ruleIds: readonly string[];
  readonly messages: readonly string[];
  /** The `@approve("always")` rules among them that ask: no answer for the session covers such a call. */
  readonly always: readonly string[];
  readonly tier: SafetyTier;
  readonly effects: readonly Effect[];
  readonly labels: readonly string[];
  /** What is alike enough to be covered by an answer for the session; undefined for this very input only. */
  readonly scope: ApprovalScope | undefined;
  /** Files of the workspace that the call would run, as they are now. */
  readonly files: readonly ApprovedFile[];
}

/**
 * SECURITY: every field that an approval is bound to is in here; a change in any of them finds no approval. The policy
 * stands here as what it answered: one that was changed and answers the same leaves an approval good.
 */
export function toBindingKey(subject: ApprovalSubject): string {
  const files = subject.files.length === 0 ? "" : ` ${filesKey(subject.files)}`;
  return `${toHex(subject.inputDigest)} ${toSessionBindingKey(subject)}${files}`;
}

/** The input's digest in such a key, as hex. */
export function inputDigestOfKey(key: string): string {
  return key.slice(0, key.indexOf(" "));
}

/** The same without the input: what an answer for the session is bound to. */
export function toSessionBindingKey({ sessionId, tool, kind, definitionHash, ruleIds }: ApprovalSubject): string {
  return JSON.stringify([sessionId, tool, kind, toHex(definitionHash), ...ruleIds]);
}
