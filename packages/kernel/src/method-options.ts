import type { ApprovalDecline, ApprovalResolution, ApprovalRevocation } from "./approval/approval.ts";
import type { OptionKinds } from "./check-options.ts";
import type { Erasure } from "./erasure/erasure.ts";
import type {
  CollectionRequest,
  ContentGrant,
  ContentPut,
  Kernel,
  RecordListQuery,
  RecordProofRequest,
  Settlement,
  TailOptions,
  Undoing,
} from "./kernel.ts";
import type { LabelClearing } from "./label/clear-workspace-labels.ts";
import type { LeaseRelease, Revocation } from "./lease/delegation.ts";
import type { ExplainRequest } from "./policy/explain.ts";
import type { ToolRegistration } from "./registry/register-tool.ts";
import type { HomeCopyOptions } from "./restore/home-copy.ts";

type OptionsOf<M extends keyof Kernel> = Kernel[M] extends (options: infer O) => unknown ? NonNullable<O> : never;

/** Required types of the options of each kernel method. Options of tool calls are validated separately. */
export const METHOD_OPTIONS = {
  closeSession: { sessionId: "text" } satisfies OptionKinds<{ sessionId: string }>,
  getLease: { leaseId: "text" } satisfies OptionKinds<{ leaseId: string }>,
  close: { graceMs: "amount?" } satisfies OptionKinds<OptionsOf<"close">>,
  listSessions: { all: "flag", limit: "amount" } satisfies OptionKinds<OptionsOf<"listSessions">>,
  releaseLease: {
    token: "text?",
    sessionId: "text?",
    isOwn: "flag?",
    leaseId: "text",
  } satisfies OptionKinds<LeaseRelease>,
  revokeLease: { leaseId: "text", reason: "text", by: "text" } satisfies OptionKinds<Revocation>,
  listTools: { sessionId: "text?", allVersions: "flag" } satisfies OptionKinds<OptionsOf<"listTools">>,
  registerTool: { tool: "object", policies: "list" } satisfies OptionKinds<ToolRegistration>,
  unregisterTool: { name: "text" } satisfies OptionKinds<{ readonly name: string }>,
  putContent: {
    sessionId: "text",
    door: "text",
    labels: "texts",
    expectedHash: "bytes?",
    chunks: "object",
  } satisfies OptionKinds<ContentPut>,
  grantContent: { sessionId: "text", toSessionId: "text", hash: "bytes" } satisfies OptionKinds<ContentGrant>,
  erase: {
    hashes: "list",
    sessionIds: "texts",
    reason: "text",
    by: "text",
    dryRun: "flag",
  } satisfies OptionKinds<Erasure>,
  collect: { dryRun: "flag", maxAgeMs: "amount?", maxBytes: "amount?" } satisfies OptionKinds<CollectionRequest>,
  backUp: { directory: "text", withKeys: "flag" } satisfies OptionKinds<HomeCopyOptions>,
  listRecords: {
    fromIndex: "amount?",
    limit: "amount",
    chain: "text?",
    newest: "flag?",
  } satisfies OptionKinds<RecordListQuery>,
  tailRecords: { fromIndex: "amount?", chain: "text?", signal: "signal" } satisfies OptionKinds<TailOptions>,
  rotateLogKey: { lost: "flag" } satisfies OptionKinds<OptionsOf<"rotateLogKey">>,
  proveRecord: { index: "amount", treeSize: "amount?" } satisfies OptionKinds<RecordProofRequest>,
  proveConsistency: { from: "amount", to: "amount?" } satisfies OptionKinds<OptionsOf<"proveConsistency">>,
  clearWorkspaceLabels: { workspace: "text", by: "text" } satisfies OptionKinds<LabelClearing>,
  settleIntent: {
    sessionId: "text",
    requestId: "text",
    answer: ["happened", "did_not_happen"],
    by: "text",
  } satisfies OptionKinds<Settlement>,
  undo: { sessionId: "text", requestId: "text?", by: "text", dryRun: "flag" } satisfies OptionKinds<Undoing>,
  explainCall: {
    tool: "text",
    version: "text?",
    input: "any",
    sessionId: "text?",
  } satisfies OptionKinds<ExplainRequest>,
  resolveApproval: {
    approvalId: "text",
    answer: ["once", "session", "rule", "deny"],
    words: "amount?",
    approver: "text",
    reason: "text?",
    door: "text",
  } satisfies OptionKinds<ApprovalResolution>,
  declineApproval: {
    approvalId: "text",
    door: "text",
    client: "text",
    action: ["decline", "cancel", "no_answer"],
  } satisfies OptionKinds<ApprovalDecline>,
  revokeApproval: { standingId: "text", by: "text" } satisfies OptionKinds<ApprovalRevocation>,
} as const;
