import {
  AdminService,
  CloseSessionRequestSchema,
  create,
  GetRecordRequestSchema,
  GetSessionRequestSchema,
  KernelService,
  ListIntentsRequestSchema,
  ListRecordsRequestSchema,
  ListSessionsRequestSchema,
  ListToolsRequestSchema,
  OpenSessionRequestSchema,
  SettleIntentRequestSchema,
  StatContentRequestSchema,
  TailLedgerRequestSchema,
  UndoRequestSchema,
  VerifyRequestSchema,
} from "@narthex/contracts";
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

/** The kernel behind a services socket, asked with the administrator's token. */
export function createServicesConnection({ socketPath, adminToken }: ServicesEndpoint): KernelConnection {
  const client = createServicesClient(socketPath);
  const admin = { token: adminToken };
  const missing = (what: string): Error => unreachable(socketPath, `the answer holds no ${what}`);

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
    async getSession(sessionId) {
      const request = create(GetSessionRequestSchema, { sessionId });
      const { session } = await client.unary(adminService.getSession, request, admin);
      if (session === undefined) throw missing("session");
      return session;
    },
    async listSessions(query) {
      return (await client.unary(adminService.listSessions, create(ListSessionsRequestSchema, query), admin)).sessions;
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
    async verify({ signal, onProgress }) {
      const request = create(VerifyRequestSchema);
      for await (const { event } of client.serverStream(adminService.verify, request, { ...admin, signal })) {
        if (event.case === "report") return event.value;
        if (event.case === "progress") onProgress(Number(event.value.recordsDone), Number(event.value.recordsTotal));
      }
      throw missing("report");
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

    async close() {
      client.close();
    },
  };
}
