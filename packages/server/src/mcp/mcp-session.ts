import { createRequestStateCodec, type RequestStateCodec } from "@modelcontextprotocol/server";
import type { Log } from "@narthex/kernel";
import type { McpChoices } from "./mcp-door.ts";
import type { McpCaller } from "./mcp-caller.ts";
import { createRecentResults, type RecentResults } from "./recent-results.ts";
import { createToolList, type ToolList } from "./tool-list.ts";

export interface McpSessionOptions extends McpChoices {
  readonly caller: McpCaller;
  readonly log?: Log;
}

/** What is kept for a session of the kernel, however many connections and requests it is used by. */
export interface McpSession extends McpSessionOptions {
  readonly tools: ToolList;
  readonly recent: RecentResults;
  readonly waiting: WaitingApprovals;
  readonly questions: RequestStateCodec<AskedCall>;
}

/** A call whose caller was asked, as it comes back with the answer. */
export interface AskedCall {
  readonly approvalId: string;
  readonly requestId: string;
  /** The digest of name and arguments. */
  readonly call: string;
}

/** Questions by the call that was told to come back. */
export interface WaitingApprovals {
  find(call: string): string | undefined;
  /** Without an id, there is nothing to wait for any more. */
  note(call: string, approvalId: string): void;
}

const MAX_WAITING = 256;
const ANSWER_SECONDS = 600;

export function createMcpSession(options: McpSessionOptions): McpSession {
  const key = crypto.getRandomValues(new Uint8Array(32));
  return {
    ...options,
    tools: createToolList(options.caller),
    recent: createRecentResults(),
    waiting: createWaitingApprovals(),
    questions: createRequestStateCodec<AskedCall>({ key, ttlSeconds: ANSWER_SECONDS }),
  };
}

function createWaitingApprovals(): WaitingApprovals {
  const waiting = new Map<string, string>();
  return {
    find: (call) => waiting.get(call),
    note(call, approvalId) {
      waiting.delete(call);
      if (approvalId !== "") waiting.set(call, approvalId);
      const [oldest] = waiting.keys();
      if (waiting.size > MAX_WAITING && oldest !== undefined) waiting.delete(oldest);
    },
  };
}
