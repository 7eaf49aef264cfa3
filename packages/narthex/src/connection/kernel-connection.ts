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

/** What a call asks of a kernel. */
export interface CallConnection {
  call(request: ToolRequest, options: CallOptions): Promise<ToolResponse>;
  /** With a session's token, content it may name; without, any content. */
  getContent(query: ContentQuery): Promise<ContentStream>;
  /** With a session's token, the tools it could be allowed to call; without, every tool. */
  listTools(query: { readonly token: string | undefined; readonly allVersions: boolean }): Promise<ToolInfo[]>;
  close(): Promise<void>;
}

/** What commands ask of a kernel, wherever it runs: behind its sockets, or in this very process. */
export interface KernelConnection extends CallConnection {
  putContent(put: PutContentInput): Promise<StoredContent>;
  statContent(hash: Uint8Array): Promise<StatContentResponse>;

  openSession(session: OpenSessionInput): Promise<{ readonly session: SessionInfo; readonly token: string }>;
  closeSession(sessionId: string): Promise<SessionInfo>;
  getSession(sessionId: string): Promise<SessionInfo>;
  listSessions(query: { readonly all: boolean; readonly limit: number }): Promise<SessionInfo[]>;

  delegateLease(lease: DelegateLeaseInput): Promise<{ readonly session: SessionInfo; readonly token: string }>;
  /** Ends a lease that was split off the session's own. */
  releaseLease(release: ReleaseLeaseInput): Promise<ReleaseLeaseResponse>;
  getLease(leaseId: string): Promise<LeaseInfo>;
  revokeLease(revocation: RevokeLeaseInput): Promise<RevokeLeaseResponse>;

  /** In force on a workspace. */
  getWorkspaceLabels(workspace: string): Promise<readonly string[]>;
  /** Gives those that were taken off. */
  clearWorkspaceLabels(clearing: { readonly workspace: string; readonly by: string }): Promise<readonly string[]>;

  listRecords(query: RecordsQuery): Promise<LedgerRecord[]>;
  getRecord(reference: RecordReference): Promise<LedgerRecord>;
  /** From `fromIndex` on, or from now; ends when the signal aborts. */
  tailRecords(query: TailQuery): AsyncIterable<LedgerRecord>;
  verify(options: VerifyOptions): Promise<VerifyReport>;
  /** The bytes of a bundle: of a session, or of everything if the id is empty. */
  exportLedger(sessionId: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
  replay(selection: ReplaySelection, signal: AbortSignal): AsyncIterable<ReplayEvent>;

  /** Signs for the records that no checkpoint covers yet. */
  signCheckpoint(): Promise<SignCheckpointResponse>;
  getCheckpoint(request: GetCheckpointRequest): Promise<GetCheckpointResponse>;
  proveRecord(request: ProveRecordRequest): Promise<ProveRecordResponse>;
  proveConsistency(request: ProveConsistencyRequest): Promise<ProveConsistencyResponse>;
  /** Hands over to a new key, or begins one in place of a key that is lost. */
  rotateLogKey(request: RotateLogKeyRequest): Promise<RotateLogKeyResponse>;

  /** The policy in force, or why there is none. */
  getPolicy(): Promise<PolicyInfo>;
  /** Reads the policy's files again. */
  reloadPolicy(by: string): Promise<{ readonly policy: PolicyInfo; readonly changed: boolean }>;
  /** What would be said of a call if it came now. */
  explainCall(question: ExplainRequest): Promise<CallExplanation>;
  /** Keeps what was answered to a client about a call of its own. */
  recordHookDecision(decision: HookDecision): Promise<void>;

  listIntents(): Promise<IntentInfo[]>;
  settleIntent(settlement: SettleIntentInput): Promise<{ readonly recordIndex: bigint }>;
  undo(undoing: UndoInput): Promise<UndoneCall[]>;

  /** Copies the home while it is in use. */
  backUp(copying: HomeCopyOptions): Promise<BackUpResponse>;
  /** Erases content for good. */
  erase(erasure: Erasure): Promise<EraseContentResponse>;
  /** Erases what no artifact and no open session needs any more. */
  collect(collection: CollectionRequest): Promise<CollectContentResponse>;

  listApprovals(): Promise<ListedApprovals>;
  resolveApproval(resolution: ResolveApprovalInput): Promise<ResolveApprovalResponse>;
  /** Records that a client answered by itself; the question stays open. */
  declineApproval(decline: ApprovalDecline): Promise<void>;
  revokeApproval(revocation: { readonly standingId: string; readonly by: string }): Promise<StandingApproval>;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  /** Output while the tool runs. */
  readonly onChunk?: (chunk: Uint8Array) => Promise<void>;
  /** The caller's span, as W3C Trace Context writes it. */
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
  /** 0 means to the end. */
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
  /** Whether a workspace of root's is handed to the user that sandboxes run as. */
  readonly adopt: boolean;
  /** Ends with the client that says it uses it. For a kernel in another process. */
  readonly attended?: boolean;
}

export interface DelegateLeaseInput {
  readonly parentSessionId: string;
  /** The parent's; without it the administrator splits the lease. */
  readonly token: string | undefined;
  readonly workingDirectory: string | undefined;
  readonly agent: string | undefined;
  readonly seed: Uint8Array | undefined;
  /** JSON text. */
  readonly lease: string;
  readonly labels: readonly string[];
  /** Content that the parent may name; only by its own token. */
  readonly contentHashes: readonly Uint8Array[];
}

export interface ReleaseLeaseInput {
  /** Of the session whose lease it was split off. */
  readonly token: string;
  readonly leaseId: string;
}

export interface RevokeLeaseInput {
  readonly leaseId: string;
  readonly reason: string;
  readonly by: string;
}

export interface RecordsQuery {
  /** The newest ones where absent. */
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
  /** The verifier key that checkpoints must lead to. */
  readonly verifierKey: string | undefined;
  /** Signed notes that somebody kept. */
  readonly checkpoints: readonly string[];
  /** What an earlier run gave as `verified`: only records after those are read. */
  readonly before?: Uint8Array | undefined;
  /** Asks for `verified` in the report. */
  readonly remember?: boolean;
  /** Content is not looked at. */
  readonly recordsOnly?: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
}

export interface UndoInput {
  readonly sessionId: string;
  /** The whole session where absent. */
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
  /** With `session`. */
  readonly words: number | undefined;
  readonly approver: string;
  readonly reason: string | undefined;
  /** For somebody at an MCP client, who is no console. */
  readonly door?: "mcp";
}

export interface SettleIntentInput {
  readonly sessionId: string;
  readonly requestId: string;
  readonly answer: "happened" | "did_not_happen";
  readonly by: string;
}
