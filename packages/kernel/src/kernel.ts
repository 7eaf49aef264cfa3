/** What doors and embedders may ask of a kernel. `createKernel` makes one from ports. */

import type { JsonValue, ToolRequest, ToolResponse, Violation } from "@narthex/contracts";
import type {
  ApprovalList,
  ApprovalDecline,
  ApprovalResolution,
  ApprovalRevocation,
  ResolvedApproval,
  StandingApproval,
} from "./approval/approval.ts";
import type { ClearedLabels, LabelClearing } from "./label/clear-workspace-labels.ts";
import type { LabelledWorkspace } from "./label/workspace-labels.ts";
import type { CollectionReport, Erasure, ErasureReport, Retention } from "./erasure/erasure.ts";
import type { UnsafeWorkspace } from "./sandboxed-programs.ts";
import type { HomeCopy, HomeCopyOptions } from "./restore/home-copy.ts";
import type { HookDecision } from "./hook/record-hook.ts";
import type { IssuedCheckpoint, RotatedKey } from "./merkle/checkpoints.ts";
import type { ConsistencyProof, InclusionProof } from "./merkle/proof-text.ts";
import type { SignedCheckpoint } from "./merkle/recorded-checkpoint.ts";
import type { PolicyChange, StoredRecord } from "./ports.ts";
import type { OpenSessionOptions, Session } from "./session/session.ts";
import type { Delegation, LeaseRelease, ReleasedLease, Revocation, RevokedLeases } from "./lease/delegation.ts";
import type { Lease } from "./lease/lease.ts";
import type { BudgetAmounts } from "./budget/budget.ts";
import type { CallExplanation, ExplainRequest } from "./policy/explain.ts";
import type { ToolRegistration } from "./registry/register-tool.ts";
import type { CallResult } from "./call-result.ts";
import type { ToolDeclaration } from "./tool/tool.ts";

export type * from "./call-result.ts";

export interface Kernel {
  /** Records that the kernel started; else its first record of anything does. For kernels that open doors. */
  announce(): Promise<void>;
  /** Runs one request to its one answer. Never rejects. */
  call(call: WireCall): Promise<ToolResponse>;
  /** The same by name and JSON value, for code in this process; the result carries what the wire leaves out. */
  callInProcess(call: InProcessCall): Promise<CallResult>;

  openSession(options: OpenSessionOptions): Promise<{ readonly session: SessionFacts; readonly token: string }>;
  closeSession(sessionId: string): Promise<SessionFacts>;
  getSession(sessionId: string): Promise<SessionFacts | undefined>;
  listSessions(options: { readonly all: boolean; readonly limit: number }): Promise<SessionFacts[]>;
  /**
   * Splits a narrower lease off a session's own, for a session of its own, and sets its budget aside. Throws LEASE_INVALID
   * with everything in which it would reach beyond its parent.
   */
  delegateLease(delegation: Delegation): Promise<{ readonly session: SessionFacts; readonly token: string }>;
  /**
   * Ends a lease that was split off a session's own, at any depth, and all below it. Throws LEASE_NOT_FOUND for one that
   * is over or was not split off it.
   */
  releaseLease(release: LeaseRelease): Promise<ReleasedLease>;
  /** Throws LEASE_NOT_FOUND. */
  getLease(leaseId: string): Promise<LeaseFacts>;
  /** Revokes a lease and every lease below it, and cancels what runs under them. Throws LEASE_NOT_FOUND. */
  revokeLease(revocation: Revocation): Promise<RevokedLeases>;
  /** The session a token belongs to, or a KernelError with a SESSION_* code. */
  authenticate(token: string): Promise<SessionFacts>;

  /** Finds out what this host enforces, once, and records it. */
  examineHost(): Promise<HostFacts>;

  /** Workspaces in which no program is started, because protected paths could not be put back. */
  unsafeWorkspaces(): readonly UnsafeWorkspace[];

  /** Every registered tool; with a session, those its lease and policy could permit. */
  listTools(options: { readonly sessionId?: string; readonly allVersions: boolean }): ToolFacts[];
  /**
   * Registers a tool while the kernel runs: for sessions that are opened from then on, and for leases that name it. Throws
   * INVALID_DECLARATION, ALREADY_REGISTERED for a name that is taken, or POLICY_INVALID; nothing is changed then.
   */
  registerTool(registration: ToolRegistration): Promise<ToolFacts>;
  /**
   * Takes back a tool that was registered while the kernel runs, with its rules: calls that run finish, later ones are
   * TOOL_NOT_FOUND. Throws TOOL_NOT_FOUND, or POLICY_INVALID where other rules name it; nothing is changed then.
   */
  unregisterTool(name: string): Promise<void>;

  /** Throws a KernelError: CONTENT_NOT_FOUND, INVALID_INPUT on a wrong hash, BUDGET_EXCEEDED, SESSION_*. */
  putContent(put: ContentPut): Promise<ContentReceipt>;
  getContent(sessionId: string, hash: Uint8Array, offset: number, limit: number): Promise<ContentReading>;
  /** Lets a session that was delegated to name content that its ancestor can name. Throws as `getContent` does. */
  grantContent(grant: ContentGrant): Promise<ContentReceipt>;
  /** For an administrator: any content, by hash. */
  statContent(hash: Uint8Array): Promise<ContentStatus | undefined>;
  readAnyContent(hash: Uint8Array, offset: number, limit: number): Promise<ContentReading>;

  /**
   * Erases content for good, for an administrator. Throws CONTENT_NOT_FOUND, or CONTENT_IN_USE for what calls, questions or
   * open sessions still need.
   */
  erase(erasure: Erasure): Promise<ErasureReport>;
  /** Erases what no artifact and no open session needs, by the retention in force or by narrower limits. */
  collect(collection: CollectionRequest): Promise<CollectionReport>;
  /** Copies the home while it is in use, and verifies the copy. Throws where this kernel has no home. */
  backUp(copying: HomeCopyOptions): Promise<HomeCopy>;
  /** For whoever reads the ledger as one: nothing is erased meanwhile. */
  withErasurePaused<T>(work: () => Promise<T>): Promise<T>;

  readRecord(index: number): Promise<StoredRecord | undefined>;
  /** The newest record of a call. */
  findCall(sessionId: string, requestId: string): Promise<StoredRecord | undefined>;
  listRecords(query: RecordListQuery): Promise<StoredRecord[]>;
  /** The number of records so far. */
  recordCount(): number;
  /** From `fromIndex` on (or from now), then each new one once it is durable, until the signal aborts. */
  tailRecords(options: TailOptions): AsyncIterable<StoredRecord>;

  /**
   * Signs for the records that no checkpoint covers yet; gives the newest one again if there are none. Throws
   * LOG_CONTRADICTS, LEDGER_ROLLED_BACK and LOG_KEY_UNUSABLE, and signs nothing then.
   */
  signCheckpoint(): Promise<IssuedCheckpoint>;
  /** The checkpoint of a size; the newest without one. Throws CHECKPOINT_NOT_FOUND. */
  getCheckpoint(treeSize?: number): Promise<SignedCheckpoint>;
  /** Hands over to a new signing key. Throws as `signCheckpoint` does. */
  rotateLogKey(options?: { readonly lost: boolean }): Promise<RotatedKey>;
  /** That a record is in the log, by the checkpoint of this size or the newest. Throws RECORD_NOT_SIGNED. */
  proveRecord(question: RecordProofRequest): Promise<RecordProof>;
  /** That a checkpoint (the newest without a size) extends an older one. */
  proveConsistency(question: {
    readonly from: number;
    readonly to?: number | undefined;
  }): Promise<CheckpointConsistencyProof>;

  /** The directories whose labels hold on a workspace. Throws WORKSPACE_REFUSED for what is none. */
  listWorkspaceLabels(workspace: string): Promise<LabelledWorkspace[]>;
  /** Takes all labels off one of them. Throws WORKSPACE_REFUSED if it has none. */
  clearWorkspaceLabels(clearing: LabelClearing): Promise<ClearedLabels>;

  listIntents(): Promise<IntentFacts[]>;
  settleIntent(settlement: Settlement): Promise<{ readonly recordIndex: number }>;
  /** Puts back what file tools changed. Throws NOTHING_TO_UNDO, or UNDO_CONFLICT with the paths, and changes nothing. */
  undo(undoing: Undoing): Promise<UndoneCall[]>;

  /** The policy in force, or why there is none. */
  policyFacts(): PolicyFacts;
  /** Reads the policy's files again. Throws POLICY_INVALID with every problem and leaves the one before in force. */
  reloadPolicy(by: string): Promise<PolicyReload>;
  /** Puts the set in force with one file more or less; what else changed in its directory is not read. */
  changePolicy(change: PolicyChange, by: string): Promise<PolicyReload>;
  /** What would be said of a call if it came now. Runs nothing, spends nothing, records nothing. */
  explainCall(question: ExplainRequest): Promise<CallExplanation>;
  /** Keeps what was answered about a call that the kernel neither runs nor contains. */
  recordHookDecision(decision: HookDecision): Promise<void>;

  /** What people are asked right now, and what they allowed for longer. */
  listApprovals(): ApprovalList;
  /** Answers a question, durably. Throws APPROVAL_NOT_FOUND for one that is not open: the first answer counts. */
  resolveApproval(resolution: ApprovalResolution): Promise<ResolvedApproval>;
  /** Records that a client answered by itself. The question stays open. Throws APPROVAL_NOT_FOUND. */
  declineApproval(decline: ApprovalDecline): Promise<void>;
  /** Takes back an answer that was given for longer. */
  revokeApproval(revocation: ApprovalRevocation): Promise<StandingApproval>;
  /** The list now, and the whole of it again after each change, until the signal aborts. */
  watchApprovals(signal: AbortSignal): AsyncIterable<ApprovalList>;
  /** Says that people can answer from outside this process; gives the closing of that door. */
  openApprovalDoor(): () => void;
  /** Tells of each session whose lease was revoked or expired; gives the end of it. */
  onLeaseEnded(listener: (sessionId: string) => void): () => void;

  /** A request that never reached a session: counted, and recorded at most once per door, reason and second. */
  refuse(refusal: Refusal): void;

  /** True once the kernel takes no new calls. */
  readonly closing: boolean;
  /** Refuses new calls, lets running ones finish for `graceMs`, cancels the rest, closes the store. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

export interface WireCall {
  /** Encoded bytes are checked strictly; a message was decoded by the caller and is validated all the same. */
  readonly request: Uint8Array | ToolRequest;
  /** The caller made the message for this call alone and keeps nothing of it: it needs no copy. */
  readonly isOwned?: boolean;
  /** framed, connect, grpc, grpc-web, mcp, cli, ... : named in the ledger. */
  readonly door: string;
  /** Aborts when the caller has gone. */
  readonly signal?: AbortSignal;
  /** The caller's deadline, kept by the kernel: what is not finished by then ends as TIMEOUT. */
  readonly timeoutMs?: number;
  /** Output while the tool runs; awaited, so a slow reader slows the tool. */
  readonly onChunk?: (chunk: Uint8Array) => void | Promise<void>;
  /** The caller's span, as W3C Trace Context writes it. Only observers read it. */
  readonly traceParent?: string | undefined;
}

export interface InProcessCall {
  readonly token: string;
  readonly tool: string;
  readonly version?: string;
  readonly input: JsonValue;
  /** Made up when absent. */
  readonly requestId?: string;
  readonly dedupeKey?: string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly onChunk?: (chunk: Uint8Array) => void | Promise<void>;
  readonly traceParent?: string | undefined;
  /** What the caller gave besides and cannot be understood: the call is answered with INVALID_REQUEST. */
  readonly faults?: readonly Violation[];
}

export interface SessionFacts {
  readonly session: Session;
  readonly lease: Lease;
  /** Of each dimension that has a limit. */
  readonly budgetRemaining: BudgetAmounts;
}

export interface LeaseFacts {
  readonly lease: Lease;
  /** As it is with all that it came from. */
  readonly state: "active" | "expired" | "revoked" | "not_yet";
  /** Of each dimension that has a limit. */
  readonly budgetRemaining: BudgetAmounts;
  /** Leases split off this one whose sessions have not ended. */
  readonly childLeaseIds: readonly string[];
}

export interface ToolFacts {
  readonly declaration: ToolDeclaration;
  readonly definitionHash: Uint8Array;
  readonly state: "ready" | "degraded" | "disabled" | "quarantined";
  /** Why it is not ready, and what to do. Empty if it is, or where nothing was examined yet. */
  readonly reason: string;
  /** How much of a result a model is shown: what the tool declares, or less by the configuration. */
  readonly viewBytes: number;
  /** Fields of the input whose values are taken in upper and lower case. */
  readonly anyCase: readonly string[];
}

/** What a host enforces. */
export interface HostFacts {
  /** Empty where nothing was examined. */
  readonly level: string;
  /** JSON text. SPEC: docs/formats/ledger.md. */
  readonly envelope: string;
}

export interface ContentPut {
  readonly sessionId: string;
  readonly door: string;
  readonly labels: readonly string[];
  readonly expectedHash?: Uint8Array;
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface ContentGrant {
  /** Whose content it is. */
  readonly sessionId: string;
  /** A session delegated from it, at any depth. */
  readonly toSessionId: string;
  readonly hash: Uint8Array;
}

export interface ContentReceipt {
  readonly hash: Uint8Array;
  readonly size: number;
  readonly labels: readonly string[];
}

export interface ContentReading extends ContentReceipt {
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface ContentStatus {
  readonly size: number;
  /** `held` in memory only, because it holds a secret. */
  readonly place: "row" | "file" | "held";
  readonly holders: readonly {
    readonly sessionId: string;
    readonly recordIndex: number;
    readonly role: string;
    readonly labels: readonly string[];
  }[];
}

export interface CollectionRequest extends Partial<Retention> {
  /** Only says what would be done. */
  readonly dryRun: boolean;
}

export interface RecordListQuery {
  readonly fromIndex?: number;
  readonly limit: number;
  readonly chain?: string;
  readonly newest?: boolean;
}

export interface RecordProofRequest {
  readonly index: number;
  readonly treeSize?: number | undefined;
}

/** SPEC: docs/formats/log.md, "Proofs"; `inclusionProofText` and `consistencyProofText` write them down. */
export interface RecordProof extends InclusionProof {
  readonly treeSize: number;
}

export interface CheckpointConsistencyProof extends ConsistencyProof {
  readonly from: number;
  readonly to: number;
}

export interface TailOptions {
  readonly fromIndex?: number;
  readonly chain?: string;
  readonly signal: AbortSignal;
}

export interface IntentFacts {
  readonly sessionId: string;
  readonly requestId: string;
  readonly tool: string;
  readonly inputDigest: Uint8Array;
  readonly recordIndex: number;
  readonly startedAtMs: number;
  readonly state: "running" | "unknown";
}

export interface PolicyFacts {
  /** Empty where no policy is in force. */
  readonly policyHash: Uint8Array;
  readonly schemaHash: Uint8Array;
  /** What evaluates it. */
  readonly engine: string;
  readonly ruleCount: number;
  /** Empty, or why no policy is in force. */
  readonly problem: string;
  readonly mode: "enforce" | "observe";
  /** Where its files lie. */
  readonly directory: string;
  /** Why the compiled evaluator is not used; empty if it is. */
  readonly fallback: string;
  /** `file:line:column: message` of rules that do not do what they say. */
  readonly warnings: readonly string[];
}

export interface PolicyReload {
  readonly policy: PolicyFacts;
  /** False if the same set was in force before. */
  readonly changed: boolean;
}

export interface Settlement {
  readonly sessionId: string;
  readonly requestId: string;
  readonly answer: "happened" | "did_not_happen";
  readonly by: string;
}

export interface Undoing {
  readonly sessionId: string;
  /** Absent means every call of the session, from the last to the first. */
  readonly requestId?: string;
  /** Who asks for it. */
  readonly by: string;
  /** Only says what would be done. */
  readonly dryRun: boolean;
}

export interface UndoneCall {
  readonly requestId: string;
  /** The record with the call's outcome. */
  readonly recordIndex: number;
  /** The record that says that it was undone; 0 for a dry run. */
  readonly undoneIndex: number;
  readonly changes: readonly { readonly path: string; readonly action: "restored" | "removed" | "moved_back" }[];
}

export interface Refusal {
  readonly door: string;
  /** Short and from a closed set per door, such as `malformed`, `too_large`, `SESSION_UNKNOWN`. */
  readonly reason: string;
  /** The offending bytes, or as much of them as was read. */
  readonly bytes?: Uint8Array;
}
