import { setTimeout as sleep } from "node:timers/promises";
import type { CalledTool } from "./call-tool.ts";
import type { McpApprovalRequest } from "./mcp-caller.ts";
import type { McpSession } from "./mcp-session.ts";

export interface WaitingCall {
  readonly requestId: string;
  /** Approval that an equal call was told to wait for. */
  readonly waitsFor: string | undefined;
}

/** Most calls end sooner, and then no approval is searched for. */
const FIRST_CHECK_MS = 200;
/** Well below the timeouts of clients, some of which restart with each notification. */
const REPEAT_MS = 10_000;
/** Progress must grow, and the first byte of output counts as 1. */
const STEP = 0.001;

/**
 * Notifies a client that requested progress that its call waits for an approval, and how to decide, until the call
 * ends.
 */
export async function notifyWaiting(
  { requestId, waitsFor }: WaitingCall,
  { context: { mcpReq } }: Pick<CalledTool, "context">,
  { caller, log }: Pick<McpSession, "caller" | "log">,
  ended: AbortSignal,
): Promise<void> {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return;
  try {
    await sleep(FIRST_CHECK_MS, undefined, { signal: ended, ref: false });
    const isOurs = (asked: McpApprovalRequest): boolean =>
      asked.requestId === requestId || asked.approvalId === waitsFor;
    const question = await caller.approvals.findForNotice(isOurs, ended);
    if (question === undefined) return;
    const message = waitingText(question);
    for (let progress = STEP; !ended.aborted; progress += STEP) {
      await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, message } });
      await sleep(REPEAT_MS, undefined, { signal: ended, ref: false });
    }
  } catch (fault) {
    // A failed notification does not affect the call.
    if (!ended.aborted) log?.("warn", "a client could not be told that its call waits", { error: String(fault) });
  }
}

function waitingText({ approvalId, kind }: McpApprovalRequest): string {
  const console = kind === "console" ? "at the console or by" : "in the console or by";
  return `waiting for a person: answer ${console} \`narthex approvals approve ${approvalId}\` (or deny)`;
}
