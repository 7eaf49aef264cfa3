import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { whatIsAllowed } from "@narthex/agent";
import { blake3, isKernelError, type JsonObject, toHex, type ToolResponse, utf8 } from "@narthex/contracts";
import { readFormAnswer } from "./approval-form.ts";
import { type AskableQuestion, askNow, findQuestion, giveAnswer } from "./ask-client.ts";
import { newRequestId } from "./mcp-caller.ts";
import { errorResult, toMcpResult } from "./mcp-result.ts";
import type { AskedCall, McpSession } from "./mcp-session.ts";
import { startCall } from "./start-call.ts";

/** Who calls, and what their client can do. */
export interface McpClient {
  readonly era: "legacy" | "modern";
  /** Shown in the ledger with an answer to a question. */
  readonly name: string;
  /** It can show a form to whoever sits at it. */
  readonly takesForms: boolean;
  /** Going away says that the call is to end. */
  readonly leavingCancels: boolean;
}

export interface CalledTool {
  readonly name: string;
  readonly input: JsonObject;
  readonly client: McpClient;
  readonly context: ServerContext;
}

/** One tool call, to its result or to the question that somebody must answer first. */
export async function callTool(called: CalledTool, session: McpSession): Promise<CallToolResult | InputRequiredResult> {
  const call = digestOf(called);
  const asked = called.context.mcpReq.requestState<AskedCall>();
  // SECURITY: what was shown is what the answer is for; the kernel holds it against the exact input once more.
  if (asked !== undefined && asked.call !== call) {
    return errorResult("INVALID_REQUEST: this answer was given to another call");
  }
  if (asked !== undefined) {
    const answer = readFormAnswer(called.context.mcpReq.inputResponses?.["approval"]);
    await giveAnswer(asked.approvalId, answer, called, session);
  }
  // A call that was never answered is asked for again under its own id, so that it runs once.
  const requestId = asked?.requestId ?? session.unanswered.find(call) ?? newRequestId();
  const running = startCall(requestId, called, session);
  const waitsFor = session.waiting.find(call);
  const question = await findQuestion({ requestId, waitsFor, without: asked?.approvalId }, running, called, session);
  if (question !== undefined && called.client.era === "modern") {
    // The kernel goes on waiting for any other answer; this client comes back with its own.
    running.letGo();
    return askToComeBack(question, { approvalId: question.approvalId, requestId, call }, session);
  }
  if (question !== undefined) void askNow(question, running, called, session);
  const response = await running.response.catch((fault: unknown) => {
    if (isKernelError(fault) && fault.code === "KERNEL_UNREACHABLE") session.unanswered.note(call, requestId);
    throw fault;
  });
  session.unanswered.note(call, "");
  noteWaiting(call, response, session);
  const result = await toResult(response, called, session);
  const notice = session.caller.takeNotice?.();
  return notice === undefined ? result : { ...result, content: [...result.content, { type: "text", text: notice }] };
}

function digestOf({ name, input }: CalledTool): string {
  return toHex(blake3(utf8(JSON.stringify([name, input]))));
}

async function askToComeBack(
  { form }: AskableQuestion,
  asked: AskedCall,
  session: McpSession,
): Promise<InputRequiredResult> {
  const requestState = await session.questions.mint(asked);
  return inputRequired({ inputRequests: { approval: inputRequired.elicit(form) }, requestState });
}

/** A call that is told to come back is known by what it asks for: MCP gives it no other name. */
function noteWaiting(call: string, { result }: ToolResponse, { waiting }: McpSession): void {
  const isPending = result.case === "error" && result.value.errorCode === "APPROVAL_PENDING";
  waiting.note(call, isPending ? result.value.approvalId : "");
}

async function toResult(response: ToolResponse, { name, input }: CalledTool, session: McpSession) {
  const { caller, tools, recent } = session;
  const isStructured = await tools.isStructured(name);
  const allowed = response.result.case === "denied" ? await whatIsAllowed(caller, name, input) : [];
  return toMcpResult(response, { isStructured, allowed, note: (success) => recent.note(success) });
}
