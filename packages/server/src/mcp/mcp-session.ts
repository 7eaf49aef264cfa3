import { createRequestStateCodec, type RequestStateCodec } from "@modelcontextprotocol/server";
import type { Logger } from "@narthex/kernel";
import { ResponseTemplates } from "./response-templates.ts";
import { type RecentCallIds, createRecentCallIds } from "./recent-call-ids.ts";
import { writeInstructions } from "./instructions.ts";
import type { McpServingOptions } from "./mcp-door.ts";
import type { McpCaller } from "./mcp-caller.ts";
import { createRecentResults, type RecentResults } from "./recent-results.ts";
import { createToolList, type ToolList } from "./tool-list.ts";

export interface McpSessionOptions extends McpServingOptions {
  readonly caller: McpCaller;
  readonly log?: Logger;
}

/** State of a kernel session, shared by all its connections and requests. */
export interface McpSession extends Omit<McpSessionOptions, "toolSet" | "instructions" | "approvalWaitMs"> {
  /** Instructions for models; undefined if the tools cannot be listed now. */
  instructions(): Promise<string | undefined>;
  readonly tools: ToolList;
  readonly recent: RecentResults;
  /** Ids of pending approvals, by the call that was told to retry. */
  readonly pendingApprovals: RecentCallIds;
  /** Request ids, by the call that got no response and may have had effects. */
  readonly unansweredCalls: RecentCallIds;
  readonly requestStates: RequestStateCodec<ApprovalRequestState>;
  /** Templates for calls over HTTP in the current revision. */
  readonly templates: ResponseTemplates;
}

/** A call whose client was asked for an approval, as it returns with the decision. */
export interface ApprovalRequestState {
  readonly approvalId: string;
  readonly requestId: string;
  /** Digest of name and arguments. */
  readonly call: string;
}

/** An equal call later than this is meant as a new call. */
const MAX_UNANSWERED_AGE_MS = 600_000;
const REQUEST_STATE_TTL_SECONDS = 600;

export function createMcpSession(options: McpSessionOptions): McpSession {
  const key = crypto.getRandomValues(new Uint8Array(32));
  const { instructions, approvalWaitMs, toolSet, ...kept } = options;
  const tools = createToolList(options.caller, toolSet);
  return {
    ...kept,
    tools,
    instructions: async () => {
      if (instructions !== undefined) return instructions;
      const names = await tools.names().catch(() => undefined);
      return names && writeInstructions({ tools: names, approvalWaitMs });
    },
    recent: createRecentResults(),
    pendingApprovals: createRecentCallIds(),
    unansweredCalls: createRecentCallIds(MAX_UNANSWERED_AGE_MS),
    requestStates: createRequestStateCodec<ApprovalRequestState>({ key, ttlSeconds: REQUEST_STATE_TTL_SECONDS }),
    templates: new ResponseTemplates(),
  };
}
