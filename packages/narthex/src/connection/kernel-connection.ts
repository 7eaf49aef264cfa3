import type {
  ApprovalInfo,
  BackUpResponse,
  CollectContentResponse,
  EraseContentResponse,
  GetCheckpointRequest,
  GetCheckpointResponse,
  IntentInfo,
  LeaseInfo,
  LedgerRecord,
  ResolveApprovalResponse,
  PolicyInfo,
  ProveConsistencyRequest,
  ProveConsistencyResponse,
  ProveRecordRequest,
  ProveRecordResponse,
  ReleaseLeaseResponse,
  RevokeLeaseResponse,
  RotateLogKeyRequest,
  RotateLogKeyResponse,
  SessionInfo,
  SignCheckpointResponse,
  StandingApproval,
  StatContentResponse,
  ToolInfo,
  ToolRequest,
  ToolResponse,
  UndoneCall,
  VerifyReport,
} from "@narthex/contracts";
import type { ReplaySelection, ReplayEvent } from "@narthex/server";
import type {
  ApprovalDecline,
  CallExplanation,
  CollectionRequest,
  Erasure,
  ExplainRequest,
  HomeCopyOptions,
  HookDecision,
} from "@narthex/kernel";

/** The kernel methods that a call needs. */
export interface CallConnection {
  call(request: ToolRequest, options: CallOptions): Promise<ToolResponse>;
  /** With a session's token, returns only content that the session may name; without, any content. */
  getContent(query: ContentQuery): Promise<ContentStream>;
  /** With a session's token, lists the tools that its lease could allow; without, every tool. */
  listTools(query: { readonly token: string | undefined; readonly allVersions: boolean }): Promise<ToolInfo[]>;
  close(): Promise<void>;
}

/** The kernel methods that commands use, wherever the kernel runs: behind its sockets, or in this very process. */
export interface KernelConnection extends CallConnection {
  putContent(put: PutContentInput): Promise<StoredContent>;
  statContent(hash: Uint8Array): Promise<StatContentResponse>;

  openSession(session: OpenSessionInput): Promise<{ readonly session: SessionInfo; readonly token: string }>;
  closeSession(sessionId: string): Promise<SessionInfo>;
  getSession(sessionId: string): Promise<SessionInfo>;
  listSessions(query: { readonly all: boolean; readonly limit: number }): Promise<SessionInfo[]>;

  delegateLease(lease: DelegateLeaseInput): Promise<{ readonly session: SessionInfo; readonly token: string }>;
  /** Ends a child lease of the session. */
  releaseLease(release: ReleaseLeaseInput): Promise<ReleaseLeaseResponse>;
  getLease(leaseId: string): Promise<LeaseInfo>;
  revokeLease(revocation: RevokeLeaseInput): Promise<RevokeLeaseResponse>;

  /** Returns the labels in force on a workspace. */
  getWorkspaceLabels(workspace: string): Promise<readonly string[]>;
  /** Returns the labels that were removed. */
  clearWorkspaceLabels(clearing: { readonly workspace: string; readonly by: string }): Promise<readonly string[]>;

  listRecords(query: RecordsQuery): Promise<LedgerRecord[]>;
  getRecord(reference: RecordReference): Promise<LedgerRecord>;
  /** Yields records from `fromIndex` on, or new ones only; ends when the signal aborts. */
  tailRecords(query: TailQuery): AsyncIterable<LedgerRecord>;
  verify(options: VerifyOptions): Promise<VerifyReport>;
  /** Yields the bytes of a bundle of one session, or of the whole ledger if the id is empty. */
  exportLedger(sessionId: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
  replay(selection: ReplaySelection, signal: AbortSignal): AsyncIterable<ReplayEvent>;

  /** Signs a checkpoint over the records that none covers yet. */
  signCheckpoint(): Promise<SignCheckpointResponse>;
  getCheckpoint(request: GetCheckpointRequest): Promise<GetCheckpointResponse>;
  proveRecord(request: ProveRecordRequest): Promise<ProveRecordResponse>;
  proveConsistency(request: ProveConsistencyRequest): Promise<ProveConsistencyResponse>;
  /** Hands over to a new signing key, or starts one in place of a lost key. */
  rotateLogKey(request: RotateLogKeyRequest): Promise<RotateLogKeyResponse>;

  /** Returns the policy in force, or the reason why none is in force. */
  getPolicy(): Promise<PolicyInfo>;
  /** Reloads the policy files. */
  reloadPolicy(by: string): Promise<{ readonly policy: PolicyInfo; readonly changed: boolean }>;
  /** Returns the decision that the policy would make about a call now. */
  explainCall(question: ExplainRequest): Promise<CallExplanation>;
  /** Records the decision about a call of a client's own tool. */
  recordHookDecision(decision: HookDecision): Promise<void>;

  listIntents(): Promise<IntentInfo[]>;
  settleIntent(settlement: SettleIntentInput): Promise<{ readonly recordIndex: bigint }>;
  undo(undoing: UndoInput): Promise<UndoneCall[]>;

  /** Copies the home while it is in use. */
  backUp(copying: HomeCopyOptions): Promise<BackUpResponse>;
  /** Erases content permanently. */
  erase(erasure: Erasure): Promise<EraseContentResponse>;
  /** Erases content that no artifact and no open session needs any more. */
  collect(collection: CollectionRequest): Promise<CollectContentResponse>;

  listApprovals(): Promise<ListedApprovals>;
  resolveApproval(resolution: ResolveApprovalInput): Promise<ResolveApprovalResponse>;
  /** Records that a client declined by itself; the approval request stays pending. */
  declineApproval(decline: ApprovalDecline): Promise<void>;
  revokeApproval(revocation: { readonly standingId: string; readonly by: string }): Promise<StandingApproval>;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  /** Receives output while the tool runs. */
  readonly onChunk?: (chunk: Uint8Array) => Promise<void>;
  /** The caller's span, in W3C Trace Context format. */
  readonly traceParent?: string;
}

export interface PutContentInput {
  readonly token: string;
  readonly expectedHash: Uint8Array | undefined;
  readonly labels: readonly string[];
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface StoredContent {
  readonly hash: Uint8Array;
  readonly size: number;
  readonly labels: readonly string[];
}

export interface ContentQuery {
  readonly token: string | undefined;
  readonly hash: Uint8Array;
  readonly offset: number;
  /** 0 reads to the end. */
  readonly limit: number;
}

export interface ContentStream extends StoredContent {
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface OpenSessionInput {
  readonly workspace: string;
  readonly workingDirectory: string | undefined;
  readonly tenant: string | undefined;
  readonly user: string | undefined;
  readonly agent: string | undefined;
  readonly seed: Uint8Array | undefined;
  /** JSON text. */
  readonly lease: string | undefined;
  readonly ttlMs: number | undefined;
  readonly labels: readonly string[];
  /** Whether to hand over a workspace owned by root to the user that sandboxes run as. */
  readonly adopt: boolean;
  /** Whether the session ends with the client that uses it. For a kernel in another process. */
  readonly attended?: boolean;
}

export interface DelegateLeaseInput {
  readonly parentSessionId: string;
  /** The parent session's token; without it the administrator delegates the lease. */
  readonly token: string | undefined;
  readonly workingDirectory: string | undefined;
  readonly agent: string | undefined;
  readonly seed: Uint8Array | undefined;
  /** JSON text. */
  readonly lease: string;
  readonly labels: readonly string[];
  /** Content that the parent may name; only with the parent's own token. */
  readonly contentHashes: readonly Uint8Array[];
}

export interface ReleaseLeaseInput {
  /** Token of the parent session. */
  readonly token: string;
  readonly leaseId: string;
}

export interface RevokeLeaseInput {
  readonly leaseId: string;
  readonly reason: string;
  readonly by: string;
}

export interface RecordsQuery {
  /** The newest records if absent. */
  readonly fromIndex: number | undefined;
  readonly limit: number;
  readonly chain: string | undefined;
}

export type RecordReference = { readonly index: number } | { readonly sessionId: string; readonly requestId: string };

export interface TailQuery {
  readonly fromIndex: number | undefined;
  readonly chain: string | undefined;
  readonly signal: AbortSignal;
}

export interface VerifyOptions {
  /** Verifier key that checkpoints must be traceable to. */
  readonly verifierKey: string | undefined;
  /** Signed notes that the user kept. */
  readonly checkpoints: readonly string[];
  /** `verified` from an earlier run: only later records are read. */
  readonly before?: Uint8Array | undefined;
  /** Requests `verified` in the report. */
  readonly remember?: boolean;
  /** Content is not checked. */
  readonly recordsOnly?: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
}

export interface UndoInput {
  readonly sessionId: string;
  /** The whole session if absent. */
  readonly requestId: string | undefined;
  readonly by: string;
  readonly dryRun: boolean;
}

export interface ListedApprovals {
  readonly approvals: readonly ApprovalInfo[];
  readonly standing: readonly StandingApproval[];
}

export interface ResolveApprovalInput {
  readonly approvalId: string;
  readonly answer: "once" | "session" | "rule" | "deny";
  /** With the decision `session`. */
  readonly words: number | undefined;
  readonly approver: string;
  readonly reason: string | undefined;
  /** Set if the decision comes from an MCP client, which does not count as the console. */
  readonly door?: "mcp";
}

export interface SettleIntentInput {
  readonly sessionId: string;
  readonly requestId: string;
  readonly answer: "happened" | "did_not_happen";
  readonly by: string;
}
