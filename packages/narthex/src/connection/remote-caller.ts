import {
  type ApprovalInfo,
  fromBinary,
  type LedgerRecord,
  parseJson,
  RecordSchema,
  type ToolResponse,
} from "@narthex/contracts";
import {
  type McpApprovalRequest,
  type FramedClient,
  type McpApprovals,
  type McpCall,
  type McpCaller,
  toCallRequest,
  toCancelRequest,
} from "@narthex/server";
import type { KernelConnection } from "./kernel-connection.ts";

export interface RemoteCallerOptions {
  /** Client of the framed door; calls with streamed output or a trace use the services door. */
  readonly framed: FramedClient;
  readonly kernel: KernelConnection;
  readonly sessionId: string;
  readonly token: string;
}

const NEVER = new AbortController().signal;

/** Calls tools in a session of a running kernel, over its sockets. */
export function createRemoteCaller({ framed, kernel, sessionId, token }: RemoteCallerOptions): McpCaller {
  /** Running calls by request id: a repeated request waits for the same response. */
  const running = new Map<string, Promise<ToolResponse>>();

  function callFramed(call: McpCall): Promise<ToolResponse> {
    const known = running.get(call.requestId);
    if (known !== undefined) return known;
    const answer = framed.call(toCallRequest(token, call)).finally(() => running.delete(call.requestId));
    running.set(call.requestId, answer);
    return answer;
  }

  return {
    listTools: () => kernel.listTools({ token, allVersions: false }),
    // A caller that leaves without a cancel ends this process, and with it the connections.
    call(call, { onChunk, traceParent }) {
      if (onChunk === undefined && traceParent === undefined) return callFramed(call);
      const options = { signal: NEVER, ...(onChunk && { onChunk }), ...(traceParent && { traceParent }) };
      return kernel.call(toCallRequest(token, call), options);
    },
    // A failure is ignored here, because the call itself reports how it ended.
    cancel: (requestId) => void framed.call(toCancelRequest(token, requestId)).catch(() => undefined),
    readContent: (hash, offset, limit) => kernel.getContent({ token, hash, offset, limit }),
    explain: (tool, input) => kernel.explainCall({ tool, input, sessionId }),
    approvals: createRemoteApprovals(kernel, sessionId),
    // An unreadable message never reaches the kernel, so nothing can be recorded.
    refuse: () => undefined,
  };
}

/** Every approval request is recorded, so new records in the session's chain trigger a refresh. */
function createRemoteApprovals(kernel: KernelConnection, sessionId: string): McpApprovals {
  async function look(fits: (question: McpApprovalRequest) => boolean): Promise<McpApprovalRequest | undefined> {
    const { approvals } = await kernel.listApprovals();
    return approvals
      .filter((approval) => approval.sessionId === sessionId)
      .map(toApprovalRequest)
      .find(fits);
  }

  const find: McpApprovals["find"] = async (fits, signal) => {
    const [newest] = await kernel.listRecords({ fromIndex: undefined, limit: 1, chain: undefined });
    const found = await look(fits);
    if (found !== undefined || signal.aborted) return found;
    const fromIndex = newest === undefined ? 0 : Number(newest.index) + 1;
    for await (const record of kernel.tailRecords({ fromIndex, chain: sessionId, signal })) {
      const asked = isApprovalRequest(record) ? await look(fits) : undefined;
      if (asked !== undefined) return asked;
    }
    return undefined;
  };

  return {
    find,
    findForNotice: find,
    async decide({ approvalId, answer, approver }) {
      await kernel.resolveApproval({ approvalId, answer, approver, words: undefined, reason: undefined, door: "mcp" });
    },
    decline: (decline) => kernel.declineApproval({ ...decline, door: "mcp" }),
  };
}

function isApprovalRequest({ record }: LedgerRecord): boolean {
  return fromBinary(RecordSchema, record).entries.some(({ kind }) => kind.case === "approvalRequested");
}

function toApprovalRequest({ input, ...rest }: ApprovalInfo): McpApprovalRequest {
  return { ...rest, input: parseJson(input) };
}
