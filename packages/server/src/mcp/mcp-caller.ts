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
  /** The tools that the session could be allowed to call. */
  listTools(): Promise<readonly ToolInfo[]>;
  call(call: McpCall, options: McpCallOptions): Promise<ToolResponse>;
  /** Ends a running call, whatever it does: its programs are killed. */
  cancel(requestId: string): void;
  /** Content that the session may name, from `offset` on and at most `limit` bytes of it. */
  readContent(hash: Uint8Array, offset: number, limit: number): Promise<ContentReading>;
  /** What would be said of a call if it came now. */
  explain(name: string, input: JsonObject): Promise<CallExplanation>;
  readonly approvals: McpApprovals;
  /** A message that could not be read, with a reason from a closed set. */
  refuse(reason: string, bytes: Uint8Array): void;
  /** What whoever calls must hear with the next answer, once. */
  takeNotice?(): string | undefined;
}

export interface McpCall {
  readonly requestId: string;
  readonly name: string;
  readonly input: JsonObject;
}

export interface McpCallOptions {
  /** Aborts when nobody waits for the answer any more: a call that may have effects goes on. */
  readonly signal?: AbortSignal;
  readonly onChunk?: (chunk: Uint8Array) => Promise<void>;
  /** The caller's span, as W3C Trace Context writes it. */
  readonly traceParent?: string;
}

/** The session's own questions, and answers to them by whoever sits at the client. */
export interface McpApprovals {
  /** The open question that fits, once there is one; undefined if the signal aborts first. */
  find(
    matches: (question: McpApprovalRequest) => boolean,
    signal: AbortSignal,
  ): Promise<McpApprovalRequest | undefined>;
  /** The same, to tell the caller of it: not to ask it, which the configuration must allow. */
  findForNotice(
    matches: (question: McpApprovalRequest) => boolean,
    signal: AbortSignal,
  ): Promise<McpApprovalRequest | undefined>;
  /** Throws APPROVAL_NOT_FOUND if it was answered elsewhere, APPROVAL_UNAVAILABLE if it is for the console. */
  decide(answer: McpApprovalDecision): Promise<void>;
  /** Records that the client answered by itself; the question stays open. Throws as `answer` does. */
  decline(decline: Omit<ApprovalDecline, "door">): Promise<void>;
}

/** What somebody at the client is shown of a question. */
export interface McpApprovalRequest
  extends Pick<
    ApprovalRequest,
    "approvalId" | "requestId" | "tool" | "input" | "messages" | "notes" | "labels" | "workspace"
  > {
  /** Only `human` may be answered here. */
  readonly kind: string;
  readonly effects: readonly string[];
}

export interface McpApprovalDecision {
  readonly approvalId: string;
  readonly answer: "once" | "deny";
  /** Shown in the ledger. */
  readonly approver: string;
}

/** As the ledger names this door, for calls and for answers to questions. */
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

/** The session of a kernel in this process that a token proves. Throws SESSION_* if none is open. */
export async function createKernelCaller(kernel: CallerKernel, token: string): Promise<McpCaller> {
  const { session } = await kernel.authenticate(token);
  return createSessionCaller(kernel, { sessionId: session.id, token });
}

/** The same for a session that is known: what it is not open for is answered call by call. */
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

/** One draw of the system's random bytes serves many ids; every byte is handed out once. */
function drawRandom(length: number): Uint8Array {
  if (drawn + length > pool.length) {
    pool = crypto.getRandomValues(new Uint8Array(POOL_BYTES));
    drawn = 0;
  }
  drawn += length;
  return pool.subarray(drawn - length, drawn);
}
