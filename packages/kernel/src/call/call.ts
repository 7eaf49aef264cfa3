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

/** A request as it came through a door. */
export interface IncomingCall {
  readonly request: Uint8Array | ToolRequest;
  /** The request was made for this call, and nobody else can change it. */
  readonly isOwned: boolean;
  /** The input's bytes are its canonical form already. */
  readonly isCanonical: boolean;
  readonly door: string;
  readonly signal: AbortSignal | undefined;
  /** When the caller gives up, by the monotonic clock; infinite if it does not say. */
  readonly deadlineMs: number;
  /** The caller's own value was no JSON: why. The request's input stands for nothing then. */
  readonly inputFault: JsonValueError | undefined;
  /** What else the caller gave that cannot be understood. */
  readonly faults: readonly Violation[] | undefined;
  readonly onChunk: ((chunk: Uint8Array) => void | Promise<void>) | undefined;
  /** Of the caller, for observers. */
  readonly traceParent: string | undefined;
  readonly trail: CallTrail;
}

export type ToolVariant = Exclude<ToolRequest["tool"], { case: undefined } | { case: "cancel" }>;

/** admit: well formed, and from an open session. */
export interface AdmittedCall {
  readonly incoming: IncomingCall;
  readonly trail: CallTrail;
  readonly live: LiveSession;
  readonly requestId: string;
  readonly dedupeKey: string;
  readonly variant: ToolVariant;
}

/** bind: one exact tool. */
export interface BoundCall extends AdmittedCall {
  readonly registered: RegisteredTool;
  /** As asked: empty for the highest release. */
  readonly requestedVersion: string;
}

/** check: valid input, in the one form everything later sees. */
export interface CheckedCall extends BoundCall {
  /** As the tool gets it. */
  readonly input: JsonValue;
  /** The same with its secrets taken out, which is what policy, people and the ledger see. */
  readonly recordedInput: JsonValue;
  /** Of the recorded input, as are the digests. */
  readonly inputBytes: Uint8Array;
  readonly inputDigest: Uint8Array;
  readonly requestDigest: Uint8Array;
}

/** What `decide` found out. The permitted call itself is sealed by that stage. */
export interface DecidedCall extends CheckedCall {
  /** What policy was asked about. */
  readonly action: string;
  readonly effects: readonly Effect[];
  readonly tier: SafetyTier;
  readonly determinism: Determinism;
  /** The most time it may take. */
  readonly timeoutMs: number;
  /** The most its programs may use of the processor; undefined if only a budget limits that. */
  readonly maxCpuMs?: number | undefined;
  readonly required: readonly Capability[];
  /** Of these, what the very arguments need. */
  readonly needed: readonly Capability[];
  readonly policyEvaluation: PolicyEvaluation;
  readonly policyHash: Uint8Array;
  /** Where a person must approve it first. */
  readonly approval: ApprovalRequirement["approve"];
  /** The `@approve("always")` rules that ask for this very call. */
  readonly always: ApprovalRequirement["always"];
}

/** invoke: the tool has returned. */
export interface InvokedCall extends DecidedCall {
  readonly grant: SealedGrant;
  readonly output: ToolOutput;
  /** A stream was gathered while it ran; whether it is kept is for `keep` to say. */
  readonly gathered: OutputCollector | undefined;
}

/** keep: the result is normalised, hashed and, if large, stored. */
export interface KeptCall extends InvokedCall {
  readonly raw: ToolOutput;
  /** As it is stored. */
  readonly result: CollectedContent;
  /** As the caller is given it: the same, unless secrets were taken out of what is stored alone. */
  readonly returned: ReturnedContent;
  readonly view: string;
  readonly cut: boolean;
  readonly labels: readonly string[];
}
