import {
  create,
  createId,
  type JsonObject,
  type ToolInfo,
  type ToolRequest,
  ToolRequestSchema,
  type ToolResponse,
  utf8,
} from "@narthex/contracts";
import type { ApprovalDecline, ApprovalRequest, CallExplanation, ContentReading, Kernel } from "@narthex/kernel";
import { toToolInfo } from "../service/tool-info.ts";

/** How an MCP server reaches its session's kernel: in this process or over sockets. */
export interface McpCaller {
  /** Lists the tools that the session's lease could allow. */
  listTools(): Promise<readonly ToolInfo[]>;
  call(call: McpCall, options: McpCallOptions): Promise<ToolResponse>;
  /** Cancels a running call in any state: its programs are killed. */
  cancel(requestId: string): void;
  /** Reads content that the session may name, from `offset` on and at most `limit` bytes of it. */
  readContent(hash: Uint8Array, offset: number, limit: number): Promise<ContentReading>;
  /** Returns the decision that the policy would make about a call now. */
  explain(name: string, input: JsonObject): Promise<CallExplanation>;
  readonly approvals: McpApprovals;
  /** Records an unreadable message, with a reason from a fixed set. */
  refuse(reason: string, bytes: Uint8Array): void;
  /** Returns a notice that the caller must get with the next response, once. */
  takeNotice?(): string | undefined;
}

export interface McpCall {
  readonly requestId: string;
  readonly name: string;
  readonly input: JsonObject;
}

export interface McpCallOptions {
  /** Aborts when no caller waits for the response any more: a call that may have effects continues. */
  readonly signal?: AbortSignal;
  readonly onChunk?: (chunk: Uint8Array) => Promise<void>;
  /** The caller's span, in W3C Trace Context format. */
  readonly traceParent?: string;
}

/** The session's own approval requests, and decisions about them by the user of the client. */
export interface McpApprovals {
  /**
   * Resolves with the pending approval request that matches, once there is one; undefined if the signal aborts first.
   */
  find(
    matches: (question: McpApprovalRequest) => boolean,
    signal: AbortSignal,
  ): Promise<McpApprovalRequest | undefined>;
  /** Finds one to notify the caller about it; not to elicit a decision, which the configuration must allow. */
  findForNotice(
    matches: (question: McpApprovalRequest) => boolean,
    signal: AbortSignal,
  ): Promise<McpApprovalRequest | undefined>;
  /** Throws APPROVAL_NOT_FOUND if it was resolved elsewhere, APPROVAL_UNAVAILABLE if it is for the console. */
  decide(answer: McpApprovalDecision): Promise<void>;
  /** Records that the client declined by itself; the approval request stays pending. Throws as `decide` does. */
  decline(decline: Omit<ApprovalDecline, "door">): Promise<void>;
}

/** The part of an approval request that the user of a client sees. */
export interface McpApprovalRequest
  extends Pick<
    ApprovalRequest,
    "approvalId" | "requestId" | "tool" | "input" | "messages" | "notes" | "labels" | "workspace"
  > {
  /** Only `human` may be decided here. */
  readonly kind: string;
  readonly effects: readonly string[];
}

export interface McpApprovalDecision {
  readonly approvalId: string;
  readonly answer: "once" | "deny";
  /** Recorded in the ledger. */
  readonly approver: string;
}

/** Name of this door in the ledger, for calls and for decisions on approvals. */
export const MCP_DOOR = "mcp";

type CallerKernel = Pick<
  Kernel,
  | "authenticate"
  | "listTools"
  | "call"
  | "getContent"
  | "explainCall"
  | "watchApprovals"
  | "resolveApproval"
  | "declineApproval"
  | "refuse"
>;

/**
 * Creates a caller for the session that a token authenticates, with the kernel in this process. Throws SESSION_* if no
 * such session is open.
 */
export async function createKernelCaller(kernel: CallerKernel, token: string): Promise<McpCaller> {
  const { session } = await kernel.authenticate(token);
  return createSessionCaller(kernel, { sessionId: session.id, token });
}

/** Creates a caller for a known session: if the session is not open, each call fails on its own. */
export function createSessionCaller(
  kernel: CallerKernel,
  { sessionId, token }: { readonly sessionId: string; readonly token: string },
): McpCaller {
  const find: McpApprovals["find"] = async (fits, signal) => {
    for await (const { open } of kernel.watchApprovals(signal)) {
      const question = open.find((asked) => asked.sessionId === sessionId && fits(asked));
      if (question !== undefined) return question;
    }
    return undefined;
  };
  return {
    listTools: async () => kernel.listTools({ sessionId, allVersions: false }).map(toToolInfo),
    call: (call, options) =>
      kernel.call({ request: toCallRequest(token, call), isOwned: true, door: MCP_DOOR, ...options }),
    cancel: (requestId) => void kernel.call({ request: toCancelRequest(token, requestId), door: MCP_DOOR }),
    async readContent(hash, offset, limit) {
      await kernel.authenticate(token);
      return kernel.getContent(sessionId, hash, offset, limit);
    },
    explain: (tool, input) => kernel.explainCall({ tool, input, sessionId }),
    approvals: {
      find,
      findForNotice: find,
      async decide(answer) {
        await kernel.resolveApproval({ ...answer, door: MCP_DOOR });
      },
      decline: (decline) => kernel.declineApproval({ ...decline, door: MCP_DOOR }),
    },
    refuse: (reason, bytes) => kernel.refuse({ door: MCP_DOOR, reason, bytes }),
  };
}

export function toCallRequest(token: string, { requestId, name, input }: McpCall): ToolRequest {
  return {
    $typeName: "narthex.v1.ToolRequest",
    requestId,
    sessionToken: token,
    dedupeKey: "",
    tool: {
      case: "call",
      value: { $typeName: "narthex.v1.ToolCall", name, version: "", input: utf8(JSON.stringify(input)) },
    },
  };
}

export function toCancelRequest(token: string, requestId: string): ToolRequest {
  const tool = { case: "cancel", value: { requestId } } as const;
  return create(ToolRequestSchema, { requestId: createRequestId(), sessionToken: token, tool });
}

export function createRequestId(): string {
  return createId("req", drawRandom);
}

const POOL_BYTES = 4096;
let pool = new Uint8Array(0);
let drawn = 0;

/** One read of the system's random bytes serves many ids; every byte is used only once. */
function drawRandom(length: number): Uint8Array {
  if (drawn + length > pool.length) {
    pool = crypto.getRandomValues(new Uint8Array(POOL_BYTES));
    drawn = 0;
  }
  drawn += length;
  return pool.subarray(drawn - length, drawn);
}
