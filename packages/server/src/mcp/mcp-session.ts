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
  /** Questions by the call that was told to come back. */
  readonly waiting: CallNotes;
  /** Request ids by the call that got no answer: it may have run. */
  readonly unanswered: CallNotes;
  readonly questions: RequestStateCodec<AskedCall>;
}

/** A call whose caller was asked, as it comes back with the answer. */
export interface AskedCall {
  readonly approvalId: string;
  readonly requestId: string;
  /** The digest of name and arguments. */
  readonly call: string;
}

/** An id for each of the last calls that have one, by their digest. */
export interface CallNotes {
  find(call: string): string | undefined;
  /** Without an id, there is nothing to remember any more. */
  note(call: string, id: string): void;
}

const MAX_NOTES = 256;
const ANSWER_SECONDS = 600;

export function createMcpSession(options: McpSessionOptions): McpSession {
  const key = crypto.getRandomValues(new Uint8Array(32));
  return {
    ...options,
    tools: createToolList(options.caller),
    recent: createRecentResults(),
    waiting: createCallNotes(),
    unanswered: createCallNotes(),
    questions: createRequestStateCodec<AskedCall>({ key, ttlSeconds: ANSWER_SECONDS }),
  };
}

function createCallNotes(): CallNotes {
  /** The oldest first. */
  const ids = new Map<string, string>();
  return {
    find: (call) => ids.get(call),
    note(call, id) {
      ids.delete(call);
      if (id !== "") ids.set(call, id);
      const [oldest] = ids.keys();
      if (ids.size > MAX_NOTES && oldest !== undefined) ids.delete(oldest);
    },
  };
}
