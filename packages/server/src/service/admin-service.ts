import { Code, ConnectError, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import { type AdminService, type GetRecordRequest, KernelError, type OpenSessionRequest } from "@narthex/contracts";
import type { Kernel, OpenSessionOptions, Settlement, StoredRecord } from "@narthex/kernel";
import { createApprovalMethods } from "./approval-methods.ts";
import { createErasureMethods } from "./erasure-methods.ts";
import { createLabelMethods } from "./label-methods.ts";
import { type ExportLedger, streamExport } from "./export-stream.ts";
import { callerKey } from "./authorization.ts";
import { type SubjectSource, toLedgerRecord, withoutBytes } from "./ledger-record.ts";
import { createLeaseMethods, toDelegation } from "./lease-methods.ts";
import { parseLeaseText } from "./lease-text.ts";
import { createMerkleMethods } from "./merkle-methods.ts";
import { createPolicyMethods } from "./policy-methods.ts";
import { createProcessMethods, type ProcessMethodsOptions } from "./process-methods.ts";
import { type Replay, streamReplay } from "./replay-stream.ts";
import { toSessionInfo } from "./session-info.ts";
import { toUndoneCall } from "./undone-call.ts";
import { streamVerify, type Verify } from "./verify-stream.ts";
import { toHash, toWholeNumber } from "./wire-values.ts";

export interface AdminServiceOptions extends ProcessMethodsOptions {
  readonly kernel: Kernel;
  readonly verify: Verify;
  readonly replay?: Replay | undefined;
  readonly exportLedger?: ExportLedger | undefined;
}

/** A client registers right after it has opened its session. */
const FIRST_CLIENT_MS = 10_000;
const DEFAULT_LIST = 100;
const MAX_LIST = 1000;

/** Every method accepts an admin token; the reading ones also a read token. See authorization.ts. */
export function createAdminService({
  kernel,
  verify,
  replay,
  exportLedger,
  stopping,
  ...rest
}: AdminServiceOptions): ServiceImpl<typeof AdminService> {
  return {
    async openSession(request) {
      const { session, token } = await (request.parentSessionId === ""
        ? kernel.openSession(toOpenOptions(request))
        : kernel.delegateLease(toDelegation(request)));
      if (request.attended) rest.attendance.expect(session.session.id, FIRST_CLIENT_MS);
      return { session: toSessionInfo(session), token };
    },
    ...createLeaseMethods(kernel),
    ...createLabelMethods(kernel),
    ...createMerkleMethods(kernel),
    ...createErasureMethods(kernel),
    ...createPolicyMethods(kernel),
    ...createApprovalMethods(kernel),
    ...createProcessMethods({ kernel, stopping, ...rest }),

    async closeSession({ sessionId }) {
      return { session: toSessionInfo(await kernel.closeSession(sessionId)) };
    },

    async listSessions({ all, limit }) {
      const sessions = await kernel.listSessions({ all, limit: toListLimit(limit) });
      return { sessions: sessions.map(toSessionInfo) };
    },

    async getSession({ sessionId }) {
      const session = await kernel.getSession(sessionId);
      if (session === undefined)
        throw new KernelError("SESSION_UNKNOWN", "no session has this id; see `narthex session list`");
      return { session: toSessionInfo(session) };
    },

    async listRecords({ fromIndex, limit, chain, newest }, context) {
      const records = await kernel.listRecords({
        fromIndex: toWholeNumber(fromIndex, "from_index"),
        limit: toListLimit(limit),
        newest,
        ...(chain === "" ? {} : { chain }),
      });
      const source = subjectSource(context);
      return { records: records.map((record) => toLedgerRecord(record, source)) };
    },

    async getRecord(request, context) {
      const record = await findRecord(kernel, request);
      if (record === undefined) throw new KernelError("RECORD_NOT_FOUND", "no such record; see `narthex ledger list`");
      return { record: { ...toLedgerRecord(record, subjectSource(context)), content: withoutBytes(record.content) } };
    },

    async *tailLedger({ fromIndex, chain }, context) {
      const records = kernel.tailRecords({
        signal: AbortSignal.any([context.signal, stopping]),
        ...(fromIndex === undefined ? {} : { fromIndex: toWholeNumber(fromIndex, "from_index") }),
        ...(chain === "" ? {} : { chain }),
      });
      const source = subjectSource(context);
      for await (const record of records) yield { record: toLedgerRecord(record, source) };
      endStopped(context, stopping);
    },

    verify: (request, context) => streamVerify(verify, request, AbortSignal.any([context.signal, stopping])),
    exportLedger: ({ sessionId }, context) =>
      streamExport(exportLedger, sessionId, AbortSignal.any([context.signal, stopping])),
    replay: (asked, context) => streamReplay(replay, asked, AbortSignal.any([context.signal, stopping])),

    async statContent(request) {
      const status = await kernel.statContent(toHash(request.hash, "hash"));
      if (status === undefined) return { found: false };
      const holders = status.holders.map((holder) => ({
        sessionId: holder.sessionId,
        recordIndex: BigInt(holder.recordIndex),
        role: holder.role,
        labels: [...holder.labels],
      }));
      return { found: true, size: BigInt(status.size), place: status.place, holders };
    },

    async listIntents() {
      const intents = await kernel.listIntents();
      return {
        intents: intents.map((intent) => ({
          sessionId: intent.sessionId,
          requestId: intent.requestId,
          tool: intent.tool,
          inputDigest: intent.inputDigest,
          recordIndex: BigInt(intent.recordIndex),
          startedAtMs: BigInt(intent.startedAtMs),
          state: intent.state,
        })),
      };
    },

    async settleIntent({ sessionId, requestId, answer, by }) {
      const { recordIndex } = await kernel.settleIntent({
        sessionId,
        requestId,
        answer: parseSettlementAnswer(answer),
        by,
      });
      return { recordIndex: BigInt(recordIndex) };
    },

    async undo({ sessionId, requestId, by, dryRun }) {
      const calls = await kernel.undo({ sessionId, by, dryRun, ...(requestId === "" ? {} : { requestId }) });
      return { calls: calls.map(toUndoneCall) };
    },
  };
}

/** SECURITY: a read token gets no content. */
function subjectSource(context: HandlerContext): SubjectSource {
  const caller = context.values.get(callerKey);
  return caller.kind === "scoped" && caller.scope === "admin" ? "content" : "record";
}

function toOpenOptions(request: OpenSessionRequest): OpenSessionOptions {
  const { workspace, workingDirectory, tenant, user, agent, seed, lease, ttlMs, adopt, labels } = request;
  return {
    workspace,
    labels,
    ...(workingDirectory === "" ? {} : { workingDirectory }),
    ...(tenant === "" ? {} : { tenant }),
    ...(user === "" ? {} : { user }),
    ...(agent === "" ? {} : { agent }),
    ...(seed.length === 0 ? {} : { seed: toHash(seed, "seed") }),
    ...(lease === "" ? {} : { lease: parseLeaseText(lease) }),
    ...(ttlMs === 0n ? {} : { ttlMs: toWholeNumber(ttlMs, "ttl_ms") }),
    ...(adopt && { adopt }),
  };
}

function toListLimit(limit: number): number {
  return limit === 0 ? DEFAULT_LIST : Math.min(limit, MAX_LIST);
}

function findRecord(kernel: Kernel, { which }: GetRecordRequest): Promise<StoredRecord | undefined> {
  switch (which.case) {
    case "index":
      return kernel.readRecord(toWholeNumber(which.value, "index"));
    case "call":
      return kernel.findCall(which.value.sessionId, which.value.requestId);
    case undefined:
      throw new KernelError("INVALID_INPUT", "say which record: its `index`, or the `call`");
  }
}

function parseSettlementAnswer(answer: string): Settlement["answer"] {
  if (answer === "happened" || answer === "did_not_happen") return answer;
  const message = "`answer` is happened or did_not_happen";
  throw new KernelError("INVALID_INPUT", message, { violations: [{ field: "answer", rule: "one_of", message }] });
}

/** Ends a stream with an error if the door stopped it; if the client left, no error is needed. */
function endStopped(context: HandlerContext, stopping: AbortSignal): void {
  if (stopping.aborted && !context.signal.aborted) {
    throw new ConnectError("the kernel is shutting down", Code.Unavailable);
  }
}
