import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { findNearestRules } from "@narthex/agent";
import { blake3, isKernelError, type JsonObject, toHex, type ToolResponse, utf8 } from "@narthex/contracts";
import { readFormDecision } from "./approval-form.ts";
import { type ElicitableApproval, elicitApproval, findElicitableApproval, submitDecision } from "./elicit-approval.ts";
import { createRequestId } from "./mcp-caller.ts";
import { errorResult, toMcpResult } from "./mcp-result.ts";
import type { ApprovalRequestState, McpSession } from "./mcp-session.ts";
import { readBytes } from "./read-resource.ts";
import { startCall } from "./start-call.ts";
import { notifyWaiting } from "./notify-waiting.ts";
import { toInvalidCallResult } from "./invalid-call-result.ts";

/** The calling client and its abilities. */
export interface McpClient {
  readonly era: "legacy" | "modern";
  /** Recorded in the ledger with the client's decision on an approval. */
  readonly name: string;
  /** Whether the client can show a form to its user. */
  readonly takesForms: boolean;
  /** Whether a disconnect means that the call should be cancelled. */
  readonly leavingCancels: boolean;
}

export interface CalledTool {
  readonly name: string;
  readonly input: JsonObject;
  readonly client: McpClient;
  readonly context: ServerContext;
}

/** Runs one tool call, to its result or to the approval request that must be decided first. */
export async function callTool(called: CalledTool, session: McpSession): Promise<CallToolResult | InputRequiredResult> {
  const digest = createLazyDigest(called);
  const asked = called.context.mcpReq.requestState<ApprovalRequestState>();
  // SECURITY: a decision is only valid for the call that was shown; the kernel checks it against the exact input again.
  if (asked !== undefined && asked.call !== digest()) {
    return errorResult("INVALID_REQUEST: this answer was given to another call");
  }
  if (asked !== undefined) {
    const answer = readFormDecision(called.context.mcpReq.inputResponses?.["approval"]);
    await submitDecision(asked.approvalId, answer, called, session);
  }
  // A call that never got a response is repeated under its own request id, so that it runs only once.
  const earlier = session.unansweredCalls.find(digest);
  const requestId = asked?.requestId ?? earlier ?? createRequestId();
  const running = startCall(requestId, called, session);
  const waitsFor = session.pendingApprovals.find(digest);
  const ended = new AbortController();
  void notifyWaiting({ requestId, waitsFor }, called, session, ended.signal);
  try {
    const question = await findElicitableApproval(
      { requestId, waitsFor, excludedApprovalId: asked?.approvalId },
      running,
      called,
      session,
    );
    if (question !== undefined && called.client.era === "modern") {
      // The kernel keeps waiting for a decision from any other door; this client returns with its own.
      running.letGo();
      return await requestInput(question, { approvalId: question.approvalId, requestId, call: digest() }, session);
    }
    if (question !== undefined) void elicitApproval(question, running, called, session);
    return await finishCall({ ...called, requestId, earlier, digest }, running.response, session);
  } finally {
    ended.abort();
  }
}

/** A call whose caller gets no approval form and no progress before the result. */
export interface FastPathToolCall extends Pick<CalledTool, "name" | "input">, Pick<McpClient, "leavingCancels"> {
  /** Aborts when the caller has disconnected. */
  readonly gone: AbortSignal;
}

export interface RunningFastPathCall {
  /** Never rejects. */
  readonly result: Promise<CallToolResult>;
  cancel(): void;
}

export function runFastPathCall(called: FastPathToolCall, session: McpSession): RunningFastPathCall {
  const { name, input, gone, leavingCancels } = called;
  const digest = createLazyDigest(called);
  const earlier = session.unansweredCalls.find(digest);
  const requestId = earlier ?? createRequestId();
  const cancel = (): void => session.caller.cancel(requestId);
  // Registered before the call, so that the kernel first gets the cancel and then notices that the caller is gone.
  if (leavingCancels) gone.addEventListener("abort", cancel, { once: true });
  const response = session.caller.call({ requestId, name, input }, { signal: gone });
  const result = finishCall({ name, input, requestId, earlier, digest }, response, session).catch((fault: unknown) =>
    toErrorResult(fault, name, session),
  );
  if (leavingCancels) void result.then(() => gone.removeEventListener("abort", cancel));
  return { result, cancel };
}

/** Converts an error thrown by a call to a result for the client. */
export function toErrorResult(fault: unknown, name: string, { log }: McpSession): CallToolResult {
  if (isKernelError(fault)) return errorResult(`${fault.code}: ${fault.message}`);
  log?.("error", "a call over MCP failed", { tool: name });
  return errorResult("INTERNAL: the call failed");
}

interface RunningTool extends Pick<CalledTool, "name" | "input"> {
  readonly requestId: string;
  /** Request id of an equal call that got no response. */
  readonly earlier: string | undefined;
  readonly digest: () => string;
}

async function finishCall(
  called: RunningTool,
  running: Promise<ToolResponse>,
  session: McpSession,
): Promise<CallToolResult> {
  const { requestId, earlier, digest } = called;
  let response: ToolResponse;
  try {
    response = await running;
  } catch (fault) {
    if (mayHaveRun(fault, called, session)) session.unansweredCalls.set(digest, requestId);
    throw fault;
  }
  session.unansweredCalls.set(digest, "");
  rememberPendingApproval(digest, response, session);
  const result = await toResult(response, called, session);
  const isEarlier = requestId === earlier && isRepeated(response);
  return withTexts(result, isEarlier ? EARLIER_CALL_NOTE : undefined, session.caller.takeNotice?.());
}

const EARLIER_CALL_NOTE =
  "This call was asked for before and got no answer then. It ran once, at that time, and this is what came of it.";

/** Computes the digest on first use: it is needed only if an earlier call is remembered. */
function createLazyDigest({ name, input }: Pick<CalledTool, "name" | "input">): () => string {
  let digest: string | undefined;
  return () => (digest ??= toHex(blake3(utf8(JSON.stringify([name, input])))));
}

/** A read-only call is repeated under a new id: a recorded response would be mistaken for the current state. */
function mayHaveRun(fault: unknown, { name }: RunningTool, { tools }: McpSession): boolean {
  return isKernelError(fault) && fault.code === "KERNEL_UNREACHABLE" && !tools.isReadOnly(name);
}

function isRepeated({ result }: ToolResponse): boolean {
  return (result.case === "success" || result.case === "error") && result.value.repeatedAnswer;
}

function withTexts(result: CallToolResult, ...texts: readonly (string | undefined)[]): CallToolResult {
  if (texts.every((text) => text === undefined)) return result;
  const more = texts.flatMap((text) => (text === undefined ? [] : [{ type: "text", text } as const]));
  return { ...result, content: [...result.content, ...more] };
}

async function requestInput(
  { form }: ElicitableApproval,
  asked: ApprovalRequestState,
  session: McpSession,
): Promise<InputRequiredResult> {
  const requestState = await session.requestStates.mint(asked);
  return inputRequired({ inputRequests: { approval: inputRequired.elicit(form) }, requestState });
}

/** A call with a pending approval is identified by its content, because MCP gives a repeated call no other identity. */
function rememberPendingApproval(
  digest: () => string,
  { result }: ToolResponse,
  { pendingApprovals }: McpSession,
): void {
  const isPending = result.case === "error" && result.value.errorCode === "APPROVAL_PENDING";
  pendingApprovals.set(digest, isPending ? result.value.approvalId : "");
}

async function toResult(response: ToolResponse, { name, input }: RunningTool, session: McpSession) {
  const { caller, tools, recent } = session;
  const promised = tools.isStructured(name);
  const isStructured = typeof promised === "boolean" ? promised : await promised;
  const { result } = response;
  const uncallable = result.case === "error" ? await toInvalidCallResult(result.value, name, tools) : undefined;
  if (uncallable !== undefined) return uncallable;
  const allowed = result.case === "denied" ? await findNearestRules(caller, name, input) : [];
  const fits = (structure: JsonObject): boolean => tools.fits(name, structure);
  return await toMcpResult(response, {
    isStructured,
    fits,
    allowed,
    note: (success) => recent.note(success),
    readContent: (hash, offset, limit) => readBytes(caller, hash, offset, limit),
  });
}
