import type { JsonValue, JsonValueError, ToolRequest, Violation } from "@narthex/contracts";
import type { Capability } from "../capability/capability.ts";
import type { ApprovalRequirement } from "../policy/approval-requirement.ts";
import type { PolicyEvaluation } from "../policy/policy.ts";
import type { RegisteredTool } from "../registry/registry.ts";
import type { CollectedContent } from "../result/content-collector.ts";
import type { ReturnedContent } from "../result/unstored-collector.ts";
import type { LiveSession } from "../session/live-session.ts";
import type { Determinism, Effect, SafetyTier, ToolOutput } from "../tool/tool.ts";
import type { CallTrail } from "./call-trail.ts";
import type { SealedGrant } from "./grant/grant.ts";
import type { OutputCollector } from "./output-collector.ts";

/** A request as received at a door. */
export interface IncomingCall {
  readonly request: Uint8Array | ToolRequest;
  /** The request was created for this call, so no other code can change it. */
  readonly isOwned: boolean;
  /** The input's bytes are already in canonical form. */
  readonly isCanonical: boolean;
  readonly door: string;
  readonly signal: AbortSignal | undefined;
  /** The caller's deadline on the monotonic clock; infinite if it sets none. */
  readonly deadlineMs: number;
  /** Why the caller's own value is not JSON. The input in the request is then only a placeholder. */
  readonly inputFault: JsonValueError | undefined;
  /** Other arguments of the caller that are invalid. */
  readonly faults: readonly Violation[] | undefined;
  readonly onChunk: ((chunk: Uint8Array) => void | Promise<void>) | undefined;
  /** Trace context of the caller, for observers. */
  readonly traceParent: string | undefined;
  readonly trail: CallTrail;
}

export type ToolVariant = Exclude<ToolRequest["tool"], { case: undefined } | { case: "cancel" }>;

/** After `admit`: well formed, and from an open session. */
export interface AdmittedCall {
  readonly incoming: IncomingCall;
  readonly trail: CallTrail;
  readonly live: LiveSession;
  readonly requestId: string;
  readonly dedupeKey: string;
  readonly variant: ToolVariant;
}

/** After `bind`: one exact tool. */
export interface BoundCall extends AdmittedCall {
  readonly registered: RegisteredTool;
  /** As requested: empty for the highest release. */
  readonly requestedVersion: string;
}

/** After `check`: valid input, in the one form that all later stages see. */
export interface CheckedCall extends BoundCall {
  /** As passed to the tool. */
  readonly input: JsonValue;
  /** The input without secrets, as policy, users and the ledger see it. */
  readonly recordedInput: JsonValue;
  /** Bytes of `recordedInput`; the digests are computed from these as well. */
  readonly inputBytes: Uint8Array;
  readonly inputDigest: Uint8Array;
  readonly requestDigest: Uint8Array;
}

/** After `decide`, with its findings. That stage seals the permitted call itself. */
export interface DecidedCall extends CheckedCall {
  /** The action of the policy request. */
  readonly action: string;
  readonly effects: readonly Effect[];
  readonly tier: SafetyTier;
  readonly determinism: Determinism;
  /** Maximum duration. */
  readonly timeoutMs: number;
  /** Maximum CPU time of its programs; undefined if only a budget limits it. */
  readonly maxCpuMs?: number | undefined;
  readonly required: readonly Capability[];
  /** The part of `required` that these exact arguments need. */
  readonly needed: readonly Capability[];
  readonly policyEvaluation: PolicyEvaluation;
  readonly policyHash: Uint8Array;
  /** Where a user must approve the call first. */
  readonly approval: ApprovalRequirement["approve"];
  /** The `@approve("always")` rules that ask for this exact call. */
  readonly always: ApprovalRequirement["always"];
}

/** After `invoke`: the tool has returned. */
export interface InvokedCall extends DecidedCall {
  readonly grant: SealedGrant;
  readonly output: ToolOutput;
  /** A stream gathered while the tool ran; `keep` decides whether it is kept. */
  readonly gathered: OutputCollector | undefined;
}

/** After `keep`: the result is normalised, hashed and, if large, stored. */
export interface KeptCall extends InvokedCall {
  readonly raw: ToolOutput;
  /** The result as stored. */
  readonly result: CollectedContent;
  /** The result as returned to the caller: the same, unless secrets were removed only from the stored one. */
  readonly returned: ReturnedContent;
  readonly view: string;
  readonly cut: boolean;
  readonly labels: readonly string[];
}
