import {
  AdminService,
  BackUpRequestSchema,
  ClearWorkspaceLabelsRequestSchema,
  CloseSessionRequestSchema,
  CollectContentRequestSchema,
  create,
  DelegateLeaseRequestSchema,
  EraseContentRequestSchema,
  ExportLedgerRequestSchema,
  GetLeaseRequestSchema,
  ExplainCallRequestSchema,
  RecordHookDecisionRequestSchema,
  GetPolicyRequestSchema,
  GetRecordRequestSchema,
  GetSessionRequestSchema,
  GetWorkspaceLabelsRequestSchema,
  KernelService,
  ListApprovalsRequestSchema,
  ListIntentsRequestSchema,
  ListRecordsRequestSchema,
  ListSessionsRequestSchema,
  ListToolsRequestSchema,
  OpenSessionRequestSchema,
  ReleaseLeaseRequestSchema,
  ReloadPolicyRequestSchema,
  ReplayRequestSchema,
  RevokeLeaseRequestSchema,
  type SessionInfo,
  ResolveApprovalRequestSchema,
  DeclineApprovalRequestSchema,
  RevokeApprovalRequestSchema,
  SettleIntentRequestSchema,
  SignCheckpointRequestSchema,
  StatContentRequestSchema,
  TailLedgerRequestSchema,
  UndoRequestSchema,
  VerifyRequestSchema,
} from "@narthex/contracts";
import type { CallExplanation } from "@narthex/kernel";
import { unreachable } from "./connection-error.ts";
import type { KernelConnection } from "./kernel-connection.ts";
import { callOverServices, openContent, sendContent } from "./services-content.ts";
import { createServicesClient } from "./services-client.ts";

export interface ServicesEndpoint {
  readonly socketPath: string;
  readonly adminToken: string;
}

const kernelService = KernelService.method;
const adminService = AdminService.method;

/** Connects to the kernel behind a services socket with the administrator's token. */
export function createServicesConnection({ socketPath, adminToken }: ServicesEndpoint): KernelConnection {
  const client = createServicesClient(socketPath);
  const admin = { token: adminToken };
  const missing = (what: string): Error => unreachable(socketPath, `the answer holds no ${what}`);

  async function getSession(sessionId: string): Promise<SessionInfo> {
    const request = create(GetSessionRequestSchema, { sessionId });
    const { session } = await client.unary(adminService.getSession, request, admin);
    if (session === undefined) throw missing("session");
    return session;
  }

  return {
    call: (request, options) => callOverServices(client, request, options),
    getContent: (query) => openContent(client, query, query.token ?? adminToken),
    putContent: (put) => sendContent(client, put),

    async listTools({ token, allVersions }) {
      const request = create(ListToolsRequestSchema, { allVersions });
      return (await client.unary(kernelService.listTools, request, { token: token ?? adminToken })).tools;
    },
    statContent(hash) {
      return client.unary(adminService.statContent, create(StatContentRequestSchema, { hash }), admin);
    },

    async openSession({ ttlMs, ...rest }) {
      const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
      const request = create(OpenSessionRequestSchema, { ...given, ttlMs: BigInt(ttlMs ?? 0) });
      const { session, token } = await client.unary(adminService.openSession, request, admin);
      if (session === undefined) throw missing("session");
      return { session, token };
    },
    async closeSession(sessionId) {
      const request = create(CloseSessionRequestSchema, { sessionId });
      const { session } = await client.unary(adminService.closeSession, request, admin);
      if (session === undefined) throw missing("session");
      return session;
    },
    getSession,
    async listSessions(query) {
      return (await client.unary(adminService.listSessions, create(ListSessionsRequestSchema, query), admin)).sessions;
    },

    async delegateLease({ parentSessionId, token, contentHashes, ...rest }) {
      const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
      if (token === undefined) {
        const request = create(OpenSessionRequestSchema, { ...given, parentSessionId });
        const opened = await client.unary(adminService.openSession, request, admin);
        if (opened.session === undefined) throw missing("session");
        return { session: opened.session, token: opened.token };
      }
      const request = create(DelegateLeaseRequestSchema, { ...given, contentHashes: [...contentHashes] });
      const delegated = await client.unary(kernelService.delegateLease, request, { token });
      return { session: await getSession(delegated.sessionId), token: delegated.token };
    },
    releaseLease({ token, leaseId }) {
      return client.unary(kernelService.releaseLease, create(ReleaseLeaseRequestSchema, { leaseId }), { token });
    },
    async getLease(leaseId) {
      const { lease } = await client.unary(adminService.getLease, create(GetLeaseRequestSchema, { leaseId }), admin);
      if (lease === undefined) throw missing("lease");
      return lease;
    },
    revokeLease(revocation) {
      return client.unary(adminService.revokeLease, create(RevokeLeaseRequestSchema, revocation), admin);
    },

    async getWorkspaceLabels(workspace) {
      const request = create(GetWorkspaceLabelsRequestSchema, { workspace });
      return (await client.unary(adminService.getWorkspaceLabels, request, admin)).labels;
    },
    async clearWorkspaceLabels(clearing) {
      const request = create(ClearWorkspaceLabelsRequestSchema, clearing);
      return (await client.unary(adminService.clearWorkspaceLabels, request, admin)).labels;
    },

    async listRecords({ fromIndex, limit, chain }) {
      const request = create(ListRecordsRequestSchema, {
        fromIndex: BigInt(fromIndex ?? 0),
        newest: fromIndex === undefined,
        limit,
        chain: chain ?? "",
      });
      return (await client.unary(adminService.listRecords, request, admin)).records;
    },
    async getRecord(which) {
      const request = create(GetRecordRequestSchema, {
        which: "index" in which ? { case: "index", value: BigInt(which.index) } : { case: "call", value: which },
      });
      const { record } = await client.unary(adminService.getRecord, request, admin);
      if (record === undefined) throw missing("record");
      return record;
    },
    async *tailRecords({ fromIndex, chain, signal }) {
      const request = create(TailLedgerRequestSchema, {
        chain: chain ?? "",
        ...(fromIndex === undefined ? {} : { fromIndex: BigInt(fromIndex) }),
      });
      for await (const { record } of client.serverStream(adminService.tailLedger, request, { ...admin, signal })) {
        if (record !== undefined) yield record;
      }
    },
    async verify({ signal, onProgress, verifierKey = "", checkpoints, before: verified, ...asked }) {
      const { remember = false, recordsOnly = false } = asked;
      const wanted = { verifierKey, checkpoints: [...checkpoints], remember, recordsOnly };
      const request = create(VerifyRequestSchema, { ...wanted, ...(verified && { verified }) });
      for await (const { event } of client.serverStream(adminService.verify, request, { ...admin, signal })) {
        if (event.case === "report") return event.value;
        if (event.case === "progress") onProgress(Number(event.value.recordsDone), Number(event.value.recordsTotal));
      }
      throw missing("report");
    },

    signCheckpoint: () => client.unary(adminService.signCheckpoint, create(SignCheckpointRequestSchema), admin),
    getCheckpoint: (request) => client.unary(adminService.getCheckpoint, request, admin),
    proveRecord: (request) => client.unary(adminService.proveRecord, request, admin),
    proveConsistency: (request) => client.unary(adminService.proveConsistency, request, admin),
    rotateLogKey: (request) => client.unary(adminService.rotateLogKey, request, admin),
    async *exportLedger(sessionId, signal) {
      const request = create(ExportLedgerRequestSchema, { sessionId });
      const options = { ...admin, signal };
      for await (const { chunk } of client.serverStream(adminService.exportLedger, request, options)) yield chunk;
    },
    replay: (asked, signal) =>
      client.serverStream(adminService.replay, create(ReplayRequestSchema, asked), { ...admin, signal }),

    async getPolicy() {
      const { policy } = await client.unary(adminService.getPolicy, create(GetPolicyRequestSchema), admin);
      if (policy === undefined) throw missing("policy");
      return policy;
    },
    async reloadPolicy(by) {
      const request = create(ReloadPolicyRequestSchema, { by });
      const { policy, changed } = await client.unary(adminService.reloadPolicy, request, admin);
      if (policy === undefined) throw missing("policy");
      return { policy, changed };
    },
    async explainCall({ tool, version = "", input, sessionId = "" }) {
      const request = create(ExplainCallRequestSchema, { tool, version, input: JSON.stringify(input), sessionId });
      const { explanation } = await client.unary(adminService.explainCall, request, admin);
      // Not validated: a kernel of this very version wrote it.
      return JSON.parse(explanation) as CallExplanation;
    },

    async recordHookDecision({ input, decidedAs, ruleIds, ...decision }) {
      const request = create(RecordHookDecisionRequestSchema, {
        ...decision,
        input: JSON.stringify(input),
        decidedAs: [...decidedAs],
        ruleIds: [...ruleIds],
      });
      await client.unary(adminService.recordHookDecision, request, admin);
    },

    async listIntents() {
      return (await client.unary(adminService.listIntents, create(ListIntentsRequestSchema), admin)).intents;
    },
    settleIntent(settlement) {
      return client.unary(adminService.settleIntent, create(SettleIntentRequestSchema, settlement), admin);
    },
    async undo({ requestId = "", ...rest }) {
      const request = create(UndoRequestSchema, { ...rest, requestId });
      return (await client.unary(adminService.undo, request, admin)).calls;
    },

    backUp: (copying) => client.unary(adminService.backUp, create(BackUpRequestSchema, copying), admin),
    erase(erasure) {
      const { hashes, sessionIds, ...rest } = erasure;
      const request = create(EraseContentRequestSchema, {
        ...rest,
        hashes: [...hashes],
        sessionIds: [...sessionIds],
      });
      return client.unary(adminService.eraseContent, request, admin);
    },
    collect({ dryRun, maxAgeMs, maxBytes }) {
      const request = create(CollectContentRequestSchema, {
        dryRun,
        ...(maxAgeMs === undefined ? {} : { maxAgeMs: BigInt(maxAgeMs) }),
        ...(maxBytes === undefined ? {} : { maxBytes: BigInt(maxBytes) }),
      });
      return client.unary(adminService.collectContent, request, admin);
    },

    listApprovals() {
      const request = create(ListApprovalsRequestSchema, { standing: true });
      return client.unary(adminService.listApprovals, request, admin);
    },
    resolveApproval({ words = 0, reason = "", door, ...rest }) {
      const request = create(ResolveApprovalRequestSchema, { ...rest, words, reason });
      return client.unary(adminService.resolveApproval, request, { ...admin, ...(door && { door }) });
    },
    async declineApproval({ door, ...decline }) {
      const request = create(DeclineApprovalRequestSchema, decline);
      await client.unary(adminService.declineApproval, request, { ...admin, door });
    },
    async revokeApproval(revocation) {
      const request = create(RevokeApprovalRequestSchema, revocation);
      const { standing } = await client.unary(adminService.revokeApproval, request, admin);
      if (standing === undefined) throw missing("standing approval");
      return standing;
    },

    async close() {
      client.close();
    },
  };
}
