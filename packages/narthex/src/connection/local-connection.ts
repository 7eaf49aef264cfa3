import {
  create,
  type IntentInfo,
  IntentInfoSchema,
  parseJson,
  ReleaseLeaseResponseSchema,
  ResolveApprovalResponseSchema,
  RevokeLeaseResponseSchema,
  StatContentResponseSchema,
} from "@narthex/contracts";
import {
  type Approver,
  type IntentFacts,
  effectiveLabels,
  type Logger,
  type OpenSessionOptions,
  parseLeaseRequest,
} from "@narthex/kernel";
import { type OpenedKernel, openKernel } from "../open-kernel.ts";
import type { OwnCodeMode } from "../own-code.ts";
import { CommandError } from "../terminal/command-error.ts";
import { createLineLogger } from "../terminal/line-logger.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { KernelConnection, OpenSessionInput } from "./kernel-connection.ts";

export interface LocalConnectionOptions {
  readonly home: string;
  /** Shown to other processes that want the home meanwhile. */
  readonly command: string;
  readonly waitMs: number;
  readonly terminal: Terminal;
  readonly environment: NodeJS.ProcessEnv;
  /** Asks the user at the terminal. */
  readonly approver?: Approver | undefined;
  readonly ownCode?: OwnCodeMode | undefined;
}

/** Opens a kernel in this process, on the home's store, for the duration of one command. */
export async function openLocalConnection(options: LocalConnectionOptions): Promise<KernelConnection> {
  const { home, command, waitMs, approver, ownCode = "refuse" } = options;
  const line = createLineLogger(options.terminal, options.environment);
  // Informational log lines of the kernel would only delay the output of a short command.
  const log: Logger = (level, message, fields) => {
    if (level !== "info") line(level, message, fields);
  };
  // These commands print which policy decides, or why no policy is in force, so the warning is not repeated.
  const printsPolicyItself = command === "call" || command.startsWith("policy ");
  const onPolicyWarning = (warning: string): void => {
    if (!printsPolicyItself) line("warn", warning);
  };
  const own = { data: home, command, waitMs, isBrief: true, log, ownCode, onPolicyWarning };
  const kernel = await openKernel({ ...own, ...(approver && { approver }) });
  if (kernel.prepared.length > 0) options.terminal.note(`set up a new home in ${kernel.home.path}`);
  const connection = createLocalConnection(kernel);
  return approver === undefined ? connection : { ...connection, call: retryUntilResolved(connection.call) };
}

/**
 * A pending approval could not be resolved after this process ends, so the call is retried until the user at the
 * terminal has decided.
 */
function retryUntilResolved(call: KernelConnection["call"]): KernelConnection["call"] {
  return async (request, options) => {
    for (;;) {
      const response = await call(request, options);
      const { result } = response;
      if (result.case !== "error" || result.value.errorCode !== "APPROVAL_PENDING") return response;
      if (options.signal.aborted || options.timeoutMs !== undefined) return response;
    }
  };
}

const DOOR = "cli";

function createLocalConnection(kernel: OpenedKernel): KernelConnection {
  /** Returns the session of a token; undefined for the administrator, who owns the home. */
  const authenticateSession = async (token: string | undefined): Promise<string | undefined> =>
    token === undefined ? undefined : (await kernel.authenticate(token)).session.id;
  const loadMerkleMethods = async () => (await import("@narthex/server/merkle-methods")).createMerkleMethods(kernel);
  const ledgerRecord = () => import("@narthex/server/ledger-record");

  return {
    call: (request, options) => kernel.call({ request, door: DOOR, ...options }),

    async getContent({ token, hash, offset, limit }) {
      const sessionId = await authenticateSession(token);
      const most = limit === 0 ? Number.MAX_SAFE_INTEGER : limit;
      return sessionId === undefined
        ? kernel.readAnyContent(hash, offset, most)
        : kernel.getContent(sessionId, hash, offset, most);
    },
    async putContent({ token, expectedHash, labels, chunks }) {
      const { session } = await kernel.authenticate(token);
      const expected = expectedHash === undefined ? {} : { expectedHash };
      return kernel.putContent({ sessionId: session.id, door: DOOR, labels, chunks, ...expected });
    },
    async statContent(hash) {
      const status = await kernel.statContent(hash);
      if (status === undefined) return create(StatContentResponseSchema);
      return create(StatContentResponseSchema, {
        found: true,
        size: BigInt(status.size),
        place: status.place,
        holders: status.holders.map((holder) => ({
          ...holder,
          recordIndex: BigInt(holder.recordIndex),
          labels: [...holder.labels],
        })),
      });
    },
    async listTools({ token, allVersions }) {
      const sessionId = await authenticateSession(token);
      const { toToolInfo } = await import("@narthex/server/tool-info");
      await kernel.examineHost();
      return kernel.listTools({ allVersions, ...(sessionId === undefined ? {} : { sessionId }) }).map(toToolInfo);
    },

    async openSession(session) {
      const opened = await kernel.openSession(toOpenOptions(session));
      const { toSessionInfo } = await import("@narthex/server/session-info");
      return { session: toSessionInfo(opened.session), token: opened.token };
    },
    async closeSession(sessionId) {
      const { toSessionInfo } = await import("@narthex/server/session-info");
      return toSessionInfo(await kernel.closeSession(sessionId));
    },
    async getSession(sessionId) {
      const session = await kernel.getSession(sessionId);
      if (session === undefined) throw noSuchSession(sessionId);
      const { toSessionInfo } = await import("@narthex/server/session-info");
      return toSessionInfo(session);
    },
    async listSessions(query) {
      const { toSessionInfo } = await import("@narthex/server/session-info");
      return (await kernel.listSessions(query)).map(toSessionInfo);
    },

    async delegateLease({ parentSessionId, token, workingDirectory, agent, seed, lease, labels, contentHashes }) {
      const delegated = await kernel.delegateLease({
        ...(token === undefined ? { sessionId: parentSessionId } : { token }),
        lease: parseLeaseRequest(parseLeaseText(lease)),
        labels,
        contentHashes,
        ...(workingDirectory === undefined ? {} : { workingDirectory }),
        ...(agent === undefined ? {} : { agent }),
        ...(seed === undefined ? {} : { seed }),
      });
      const { toSessionInfo } = await import("@narthex/server/session-info");
      return { session: toSessionInfo(delegated.session), token: delegated.token };
    },
    async releaseLease(release) {
      const { budgetReturned } = await kernel.releaseLease(release);
      return create(ReleaseLeaseResponseSchema, { budgetReturned: JSON.stringify(budgetReturned) });
    },
    async getLease(leaseId) {
      const { toLeaseInfo } = await import("@narthex/server/lease-info");
      return toLeaseInfo(await kernel.getLease(leaseId));
    },
    async revokeLease(revocation) {
      const { leaseIds, cancelledCalls } = await kernel.revokeLease(revocation);
      return create(RevokeLeaseResponseSchema, { leaseIds: [...leaseIds], cancelledCalls });
    },

    getWorkspaceLabels: async (workspace) => effectiveLabels(await kernel.listWorkspaceLabels(workspace)),
    clearWorkspaceLabels: async (clearing) => (await kernel.clearWorkspaceLabels(clearing)).labels,

    async listRecords({ fromIndex, limit, chain }) {
      const start = fromIndex === undefined ? { newest: true } : { fromIndex };
      const { toLedgerRecord } = await ledgerRecord();
      const records = await kernel.listRecords({ ...start, limit, ...(chain === undefined ? {} : { chain }) });
      return records.map((record) => toLedgerRecord(record, "content"));
    },
    async getRecord(which) {
      const record = await ("index" in which
        ? kernel.readRecord(which.index)
        : kernel.findCall(which.sessionId, which.requestId));
      if (record === undefined) throw new CommandError("RECORD_NOT_FOUND", "the ledger has no such record");
      return { ...(await ledgerRecord()).toLedgerRecord(record, "content"), content: record.content };
    },
    async *tailRecords({ fromIndex, chain, signal }) {
      const from = fromIndex === undefined ? {} : { fromIndex };
      const records = kernel.tailRecords({ ...from, ...(chain === undefined ? {} : { chain }), signal });
      const { toLedgerRecord } = await ledgerRecord();
      for await (const record of records) yield toLedgerRecord(record, "content");
    },
    async verify(options) {
      const { verifySource } = await import("./verify-report.ts");
      return kernel.withErasurePaused(() => verifySource(kernel.ledgerSource(), options));
    },

    signCheckpoint: async () => (await loadMerkleMethods()).signCheckpoint(),
    getCheckpoint: async (request) => (await loadMerkleMethods()).getCheckpoint(request),
    proveRecord: async (request) => (await loadMerkleMethods()).proveRecord(request),
    proveConsistency: async (request) => (await loadMerkleMethods()).proveConsistency(request),
    rotateLogKey: async (request) => (await loadMerkleMethods()).rotateLogKey(request),
    exportLedger: (sessionId, signal) => kernel.exportLedger(sessionId, signal),
    replay: (asked, signal) => kernel.replay(asked, signal),

    async getPolicy() {
      const { toPolicyInfo } = await import("@narthex/server/policy-info");
      return toPolicyInfo(kernel.policyFacts());
    },
    async reloadPolicy(by) {
      const { toPolicyInfo } = await import("@narthex/server/policy-info");
      const { policy, changed } = await kernel.reloadPolicy(by);
      return { policy: toPolicyInfo(policy), changed };
    },
    explainCall: (question) => kernel.explainCall(question),
    recordHookDecision: (decision) => kernel.recordHookDecision(decision),

    listIntents: async () => (await kernel.listIntents()).map(toIntentInfo),
    async settleIntent(settlement) {
      return { recordIndex: BigInt((await kernel.settleIntent(settlement)).recordIndex) };
    },
    async undo({ requestId, ...rest }) {
      const { toUndoneCall } = await import("@narthex/server/undone-call");
      const calls = await kernel.undo({ ...rest, ...(requestId === undefined ? {} : { requestId }) });
      return calls.map(toUndoneCall);
    },

    async backUp(copying) {
      const { toBackUpResponse } = await import("@narthex/server/erasure-reports");
      return toBackUpResponse(await kernel.backUp(copying));
    },
    async erase(erasure) {
      const { toEraseContentResponse } = await import("@narthex/server/erasure-reports");
      return toEraseContentResponse(await kernel.erase(erasure));
    },
    async collect(collection) {
      const { toCollectContentResponse } = await import("@narthex/server/erasure-reports");
      return toCollectContentResponse(await kernel.collect(collection));
    },

    async listApprovals() {
      const { toApprovalInfo, toStandingApproval } = await import("@narthex/server/approval-info");
      const { open, standing } = kernel.listApprovals();
      return { approvals: open.map(toApprovalInfo), standing: standing.map(toStandingApproval) };
    },
    async resolveApproval(resolution) {
      const { toStandingApproval } = await import("@narthex/server/approval-info");
      const { answer, isAwaited, standing } = await kernel.resolveApproval({ door: DOOR, ...resolution });
      const given = standing === undefined ? {} : { standing: toStandingApproval(standing) };
      return create(ResolveApprovalResponseSchema, { answer, isAwaited, ...given });
    },
    declineApproval: (decline) => kernel.declineApproval(decline),
    async revokeApproval(revocation) {
      const { toStandingApproval } = await import("@narthex/server/approval-info");
      return toStandingApproval(await kernel.revokeApproval(revocation));
    },

    close: () => kernel.close(),
  };
}

/** For a session id that does not exist. */
function noSuchSession(sessionId: string): CommandError {
  return new CommandError("SESSION_UNKNOWN", `there is no session \`${sessionId.slice(0, 60)}\``, {
    next: "run `narthex session list --all` to see which sessions there are",
  });
}

function toOpenOptions({ lease, ...session }: OpenSessionInput): OpenSessionOptions {
  const { workspace, workingDirectory, tenant, user, agent, seed, ttlMs, adopt, labels } = session;
  return {
    workspace,
    labels,
    ...(adopt && { adopt }),
    ...(workingDirectory === undefined ? {} : { workingDirectory }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(user === undefined ? {} : { user }),
    ...(agent === undefined ? {} : { agent }),
    ...(seed === undefined ? {} : { seed }),
    ...(ttlMs === undefined ? {} : { ttlMs }),
    ...(lease === undefined ? {} : { lease: parseLeaseRequest(parseLeaseText(lease)) }),
  };
}

function parseLeaseText(text: string): ReturnType<typeof parseJson> {
  try {
    return parseJson(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : "it cannot be read";
    throw new CommandError("LEASE_INVALID", `the lease is not JSON: ${reason}`, { cause });
  }
}

function toIntentInfo({ recordIndex, startedAtMs, ...intent }: IntentFacts): IntentInfo {
  return create(IntentInfoSchema, { ...intent, recordIndex: BigInt(recordIndex), startedAtMs: BigInt(startedAtMs) });
}
