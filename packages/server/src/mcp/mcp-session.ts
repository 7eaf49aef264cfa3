import { createRequestStateCodec, type RequestStateCodec } from "@modelcontextprotocol/server";
import type { Log } from "@narthex/kernel";
import { CallFrames } from "./call-frames.ts";
import { type CallNotes, createCallNotes } from "./call-notes.ts";
import { writeInstructions } from "./instructions.ts";
import type { McpChoices } from "./mcp-door.ts";
import type { McpCaller } from "./mcp-caller.ts";
import { createRecentResults, type RecentResults } from "./recent-results.ts";
import { createToolList, type ToolList } from "./tool-list.ts";

export interface McpSessionOptions extends McpChoices {
  readonly caller: McpCaller;
  readonly log?: Log;
}

/** What is kept for a session of the kernel, however many connections and requests it is used by. */
export interface McpSession extends Omit<McpSessionOptions, "toolSet" | "instructions" | "approvalWaitMs"> {
  /** For models; undefined if the tools cannot be listed now. */
  instructions(): Promise<string | undefined>;
  readonly tools: ToolList;
  readonly recent: RecentResults;
  /** Questions by the call that was told to come back. */
  readonly waiting: CallNotes;
  /** Request ids by the call that got no answer and may have had effects. */
  readonly unanswered: CallNotes;
  readonly questions: RequestStateCodec<AskedCall>;
  /** Of calls over HTTP in the current revision. */
  readonly frames: CallFrames;
}

/** A call whose caller was asked, as it comes back with the answer. */
export interface AskedCall {
  readonly approvalId: string;
  readonly requestId: string;
  /** The digest of name and arguments. */
  readonly call: string;
}

/** Who asks later than that wants to know how things are now. */
const MAX_UNANSWERED_AGE_MS = 600_000;
const ANSWER_SECONDS = 600;

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
    waiting: createCallNotes(),
    unanswered: createCallNotes(MAX_UNANSWERED_AGE_MS),
    questions: createRequestStateCodec<AskedCall>({ key, ttlSeconds: ANSWER_SECONDS }),
    frames: new CallFrames(),
  };
}
