import { SdkError, SdkErrorCode, type ServerContext } from "@modelcontextprotocol/server";
import type { ToolResponse } from "@narthex/contracts";
import type { CalledTool } from "./call-tool.ts";
import type { McpCallOptions } from "./mcp-caller.ts";
import type { McpSession } from "./mcp-session.ts";

export interface StartedCall {
  readonly response: Promise<ToolResponse>;
  /** Aborts once there is a response. */
  readonly answered: AbortSignal;
  /** Detaches the call from its caller: a disconnect no longer cancels it. */
  letGo(): void;
}

/** One shared instance, because creating it takes longer than handling it. */
const ANSWERED = new DOMException("the call was answered", "AbortError");
const TRACE_PARENT = /^[\x21-\x7e]{1,256}$/;
/** Maximum size of a tool's output in one notification; all of it counts as progress. */
const MAX_SHOWN_OUTPUT = 16 * 1024;

/** Starts a call at the kernel, sends its output as progress, and cancels it when the caller does. */
export function startCall(
  requestId: string,
  { name, input, client, context }: CalledTool,
  { caller }: Pick<McpSession, "caller">,
): StartedCall {
  const { signal } = context.mcpReq;
  const gone = new AbortController();
  const answered = new AbortController();
  const leave = (): void => {
    // A broken connection is not a cancel, unless the protocol says so.
    if (client.leavingCancels || !isDisconnect(signal.reason)) caller.cancel(requestId);
    gone.abort();
  };
  const letGo = (): void => signal.removeEventListener("abort", leave);
  signal.addEventListener("abort", leave, { once: true });
  if (signal.aborted) gone.abort();
  const onChunk = createProgressReporter(context);
  const traceParent = readTraceParent(context);
  const options: McpCallOptions = {
    signal: gone.signal,
    ...(onChunk && { onChunk }),
    ...(traceParent && { traceParent }),
  };
  const response = caller.call({ requestId, name, input }, options).finally(() => {
    letGo();
    answered.abort(ANSWERED);
  });
  // Prevents an unhandled rejection: after `letGo` no caller awaits the response.
  response.catch(() => undefined);
  return { response, answered: answered.signal, letGo };
}

function isDisconnect(reason: unknown): boolean {
  return reason instanceof SdkError && reason.code === SdkErrorCode.ConnectionClosed;
}

function createProgressReporter({ mcpReq }: ServerContext): McpCallOptions["onChunk"] {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  const decoder = new TextDecoder();
  let progress = 0;
  return async (chunk) => {
    progress += chunk.length;
    const message = decoder.decode(chunk, { stream: true }).slice(0, MAX_SHOWN_OUTPUT).toWellFormed();
    const params = { progressToken, progress, ...(message === "" ? {} : { message }) };
    // A failed notification is no reason to stop the tool.
    await mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
  };
}

function readTraceParent({ mcpReq }: ServerContext): string | undefined {
  const said = mcpReq._meta?.["traceparent"];
  // SECURITY: the value may become a header on its way to the kernel.
  return typeof said === "string" && TRACE_PARENT.test(said) ? said : undefined;
}
