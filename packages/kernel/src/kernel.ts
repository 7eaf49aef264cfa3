/** The interface of the kernel for doors and embedders. `createKernel` creates one from ports. */

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
  /** Examines the host and records the kernel's start, for kernels that open doors; others record it with their first. */
  announce(): Promise<void>;
  /** Runs one request and returns its one response. Never rejects. */
  call(call: WireCall): Promise<ToolResponse>;
  /**
   * Runs a call given by name and JSON value, for code in this process; the result includes facts that are not sent
   * over the wire.
   */
  callInProcess(call: InProcessCall): Promise<CallResult>;

  openSession(options: OpenSessionOptions): Promise<{ readonly session: SessionFacts; readonly token: string }>;
  closeSession(sessionId: string): Promise<SessionFacts>;
  getSession(sessionId: string): Promise<SessionFacts | undefined>;
  listSessions(options: { readonly all: boolean; readonly limit: number }): Promise<SessionFacts[]>;
  /**
   * Delegates a narrower child lease to a new session, and reserves its budget. Throws LEASE_INVALID with everything in
   * which the child would exceed its parent.
   */
  delegateLease(delegation: Delegation): Promise<{ readonly session: SessionFacts; readonly token: string }>;
  /**
   * Ends a child lease of a session's own lease, at any depth, and all leases below it. Throws LEASE_NOT_FOUND if the
   * lease has ended or is not a child of the session's lease.
   */
  releaseLease(release: LeaseRelease): Promise<ReleasedLease>;
  /** Returns the facts of a lease. Throws LEASE_NOT_FOUND. */
  getLease(leaseId: string): Promise<LeaseFacts>;
  /** Revokes a lease and every lease below it, and cancels the calls that run under them. Throws LEASE_NOT_FOUND. */
  revokeLease(revocation: Revocation): Promise<RevokedLeases>;
  /** Returns the session of a token. Throws a KernelError with a SESSION_* code. */
  authenticate(token: string): Promise<SessionFacts>;

  /** Examines once what this host enforces, and records it. */
  examineHost(): Promise<HostFacts>;

  /** Workspaces in which no program is started, because protected paths could not be restored. */
  unsafeWorkspaces(): readonly UnsafeWorkspace[];

  /** Lists every registered tool; with a session, those that its lease and policy could permit. */
  listTools(options: { readonly sessionId?: string; readonly allVersions: boolean }): ToolFacts[];
  /**
   * Registers a tool while the kernel runs: for sessions opened from then on, and for leases that name it. Throws
   * INVALID_DECLARATION, ALREADY_REGISTERED if the name is taken, or POLICY_INVALID; nothing changes in these cases.
   */
  registerTool(registration: ToolRegistration): Promise<ToolFacts>;
  /**
   * Unregisters a tool that was registered while the kernel runs, with its rules: running calls finish, later ones get
   * TOOL_NOT_FOUND. Throws TOOL_NOT_FOUND, or POLICY_INVALID if other rules refer to it; nothing changes in these
   * cases.
   */
  unregisterTool(name: string): Promise<void>;

  /** Throws a KernelError: CONTENT_NOT_FOUND, INVALID_INPUT on a wrong hash, BUDGET_EXCEEDED, SESSION_*. */
  putContent(put: ContentPut): Promise<ContentReceipt>;
  getContent(sessionId: string, hash: Uint8Array, offset: number, limit: number): Promise<ContentReading>;
  /** Lets a child session name content that its ancestor can name. Throws as `getContent` does. */
  grantContent(grant: ContentGrant): Promise<ContentReceipt>;
  /** For administrators: finds any content by its hash. */
  statContent(hash: Uint8Array): Promise<ContentStatus | undefined>;
  readAnyContent(hash: Uint8Array, offset: number, limit: number): Promise<ContentReading>;

  /**
   * Erases content permanently, for an administrator. Throws CONTENT_NOT_FOUND, or CONTENT_IN_USE if calls, approval
   * requests or open sessions still need it.
   */
  erase(erasure: Erasure): Promise<ErasureReport>;
  /** Erases content that no artifact and no open session needs, by the configured retention or by other limits. */
  collect(collection: CollectionRequest): Promise<CollectionReport>;
  /** Copies the home while it is in use, and verifies the copy. Throws if this kernel has no home. */
  backUp(copying: HomeCopyOptions): Promise<HomeCopy>;
  /** Runs work that reads the ledger as a whole; nothing is erased until it ends. */
  withErasurePaused<T>(work: () => Promise<T>): Promise<T>;

  readRecord(index: number): Promise<StoredRecord | undefined>;
  /** The newest record with this request id. */
  findCall(sessionId: string, requestId: string): Promise<StoredRecord | undefined>;
  listRecords(query: RecordListQuery): Promise<StoredRecord[]>;
  /** Number of durable records. */
  recordCount(): number;
  /**
   * Yields records from `fromIndex` on (by default from now), then each new one once it is durable, until the signal
   * aborts.
   */
  tailRecords(options: TailOptions): AsyncIterable<StoredRecord>;

  /**
   * Signs a checkpoint for records that none covers yet; returns the newest one if there are no such records. Throws
   * LOG_CONTRADICTS, LEDGER_ROLLED_BACK and LOG_KEY_UNUSABLE, and signs nothing in these cases.
   */
  signCheckpoint(): Promise<IssuedCheckpoint>;
  /** Returns the checkpoint of a size, by default the newest. Throws CHECKPOINT_NOT_FOUND. */
  getCheckpoint(treeSize?: number): Promise<SignedCheckpoint>;
  /** Replaces the signing key. Throws as `signCheckpoint` does. */
  rotateLogKey(options?: { readonly lost: boolean }): Promise<RotatedKey>;
  /** Proves that the checkpoint of a size, by default the newest, covers a record. Throws RECORD_NOT_SIGNED. */
  proveRecord(question: RecordProofRequest): Promise<RecordProof>;
  /** Proves that a checkpoint (by default the newest) extends an older one. */
  proveConsistency(question: {
    readonly from: number;
    readonly to?: number | undefined;
  }): Promise<CheckpointConsistencyProof>;

  /** Lists the directories whose labels apply to a workspace. Throws WORKSPACE_REFUSED for an invalid workspace. */
  listWorkspaceLabels(workspace: string): Promise<LabelledWorkspace[]>;
  /** Removes all labels from one of these directories. Throws WORKSPACE_REFUSED if it has none. */
  clearWorkspaceLabels(clearing: LabelClearing): Promise<ClearedLabels>;

  listIntents(): Promise<IntentFacts[]>;
  settleIntent(settlement: Settlement): Promise<{ readonly recordIndex: number }>;
  /**
   * Reverts changes by file tools. Throws NOTHING_TO_UNDO, or UNDO_CONFLICT with the paths; nothing changes in these
   * cases.
   */
  undo(undoing: Undoing): Promise<UndoneCall[]>;

  /** The policy in force, or why none is in force. */
  policyFacts(): PolicyFacts;
  /**
   * Reads the policy's files again. Throws POLICY_INVALID with every problem and leaves the previous policy in force.
   */
  reloadPolicy(by: string): Promise<PolicyReload>;
  /** Activates the current policy set with one file added or removed; other changes in its directory are not read. */
  changePolicy(change: PolicyChange, by: string): Promise<PolicyReload>;
  /** Explains how a call would be decided now. Runs nothing, spends nothing, records nothing. */
  explainCall(question: ExplainRequest): Promise<CallExplanation>;
  /** Records a decision about a call that a client runs itself, outside the kernel. */
  recordHookDecision(decision: HookDecision): Promise<void>;

  /** Lists the pending approval requests and the standing approvals. */
  listApprovals(): ApprovalList;
  /**
   * Decides on an approval request, durably. Throws APPROVAL_NOT_FOUND if it is not pending: the first decision counts.
   */
  resolveApproval(resolution: ApprovalResolution): Promise<ResolvedApproval>;
  /**
   * Records that a client responded by itself, without a decision by a person. The approval request stays pending.
   * Throws APPROVAL_NOT_FOUND.
   */
  declineApproval(decline: ApprovalDecline): Promise<void>;
  /** Revokes a standing approval. */
  revokeApproval(revocation: ApprovalRevocation): Promise<StandingApproval>;
  /** Yields the whole list now and after each change, until the signal aborts. */
  watchApprovals(signal: AbortSignal): AsyncIterable<ApprovalList>;
  /**
   * Announces that people can decide on approval requests from outside this process; returns a function that ends this.
   */
  openApprovalDoor(): () => void;
  /** Calls the listener for each session whose lease was revoked or expired; returns a function that removes it. */
  onLeaseEnded(listener: (sessionId: string) => void): () => void;

  /** Counts a request that never reached a session; recorded at most once per door, reason and second. */
  refuse(refusal: Refusal): void;

  /** True once the kernel rejects new calls. */
  readonly closing: boolean;
  /** Rejects new calls, lets running ones finish for `graceMs`, cancels the rest, closes the store. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

export interface WireCall {
  /** Encoded bytes are checked strictly; a message that the caller decoded is validated as well. */
  readonly request: Uint8Array | ToolRequest;
  /** The caller made the message for this call alone and keeps no reference to it, so it is not copied. */
  readonly isOwned?: boolean;
  /** Door that the call came through (framed, connect, grpc, grpc-web, mcp, cli, ...), recorded in the ledger. */
  readonly door: string;
  /** Aborts when the caller has disconnected. */
  readonly signal?: AbortSignal;
  /** The caller's deadline, enforced by the kernel: a call that has not finished by then ends as TIMEOUT. */
  readonly timeoutMs?: number;
  /** Receives output while the tool runs; awaited, so a slow reader slows the tool. */
  readonly onChunk?: (chunk: Uint8Array) => void | Promise<void>;
  /** The caller's span in W3C Trace Context format. Used by observers only. */
  readonly traceParent?: string | undefined;
}

export interface InProcessCall {
  readonly token: string;
  readonly tool: string;
  readonly version?: string;
  readonly input: JsonValue;
  /** Generated if absent. */
  readonly requestId?: string;
  readonly dedupeKey?: string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly onChunk?: (chunk: Uint8Array) => void | Promise<void>;
  readonly traceParent?: string | undefined;
  /** Problems that the door found in the caller's other fields: the call gets the response INVALID_REQUEST. */
  readonly faults?: readonly Violation[];
}

export interface SessionFacts {
  readonly session: Session;
  readonly lease: Lease;
  /** Remaining budget of each dimension that has a limit. */
  readonly budgetRemaining: BudgetAmounts;
}

export interface LeaseFacts {
  readonly lease: Lease;
  /** State of the lease, taking all its ancestors into account. */
  readonly state: "active" | "expired" | "revoked" | "not_yet";
  /** Remaining budget of each dimension that has a limit. */
  readonly budgetRemaining: BudgetAmounts;
  /** Child leases whose sessions have not ended. */
  readonly childLeaseIds: readonly string[];
}

export interface ToolFacts {
  readonly declaration: ToolDeclaration;
  readonly definitionHash: Uint8Array;
  readonly state: "ready" | "degraded" | "disabled" | "quarantined";
  /** Why the tool is not ready, and what to do. Empty if it is ready, or if the host is not examined yet. */
  readonly reason: string;
  /** Maximum part of a result shown to a model: the tool's declaration, or less if so configured. */
  readonly viewBytes: number;
  /** Input fields whose values are accepted in upper and lower case. */
  readonly anyCase: readonly string[];
}

/** What a host enforces. */
export interface HostFacts {
  /** Empty if the host was not examined. */
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
  /** Session that can name the content. */
  readonly sessionId: string;
  /** A child session of it, at any depth. */
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
  /** `held`: in memory only, because the content contains a secret. */
  readonly place: "row" | "file" | "held";
  readonly holders: readonly {
    readonly sessionId: string;
    readonly recordIndex: number;
    readonly role: string;
    readonly labels: readonly string[];
  }[];
}

export interface CollectionRequest extends Partial<Retention> {
  /** Only report what would be erased. */
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

/** SPEC: docs/formats/log.md, "Proofs"; `inclusionProofText` and `consistencyProofText` encode them. */
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
  /** Empty if no policy is in force. */
  readonly policyHash: Uint8Array;
  readonly schemaHash: Uint8Array;
  /** Name of the policy engine. */
  readonly engine: string;
  readonly ruleCount: number;
  /** Why no policy is in force; empty if one is. */
  readonly problem: string;
  readonly mode: "enforce" | "observe";
  /** Directory of the policy's files. */
  readonly directory: string;
  /** Why the compiled evaluator is not used; empty if it is. */
  readonly fallback: string;
  /** `file:line:column: message` of rules that have no effect or another one than they seem to. */
  readonly warnings: readonly string[];
}

export interface PolicyReload {
  readonly policy: PolicyFacts;
  /** False if the same set was already in force. */
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
  /** If absent, every call of the session is undone, from the last to the first. */
  readonly requestId?: string;
  /** Name of the person who requests the undo. */
  readonly by: string;
  /** Only report what would be changed. */
  readonly dryRun: boolean;
}

export interface UndoneCall {
  readonly requestId: string;
  /** Record with the call's outcome. */
  readonly recordIndex: number;
  /** Record of the completed undo; 0 for a dry run. */
  readonly undoneIndex: number;
  readonly changes: readonly { readonly path: string; readonly action: "restored" | "removed" | "moved_back" }[];
}

export interface Refusal {
  readonly door: string;
  /** Short, and from a closed set per door, such as `malformed`, `too_large`, `SESSION_UNKNOWN`. */
  readonly reason: string;
  /** The refused bytes, or as much of them as was read. */
  readonly bytes?: Uint8Array;
}
