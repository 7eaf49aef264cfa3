import type { JsonValue, ToolResponse } from "@narthex/contracts";
import { nearestName, quoteText } from "@narthex/kernel";
import { correctionText, describeViolation } from "../correct/correction-text.ts";
import { parseArguments } from "../correct/parse-arguments.ts";
import type { DeclaredTool } from "../declare/declare-tools.ts";
import { WRAPPED_FIELD } from "../declare/root-object.ts";
import type { RecordedText } from "../model/agent-message.ts";
import type { StreamedCall } from "../stream/call-delta.ts";
import type { AgentCallResponse, AgentSession } from "./agent-session.ts";
import type { AgentTools } from "./agent-tools.ts";
import { describeResponse } from "./describe-response.ts";
import { recordedText } from "./recorded-text.ts";
import { findNearestRules } from "./find-nearest-rules.ts";

/** The outcome of one call of a model. */
export interface CallOutcome {
  /** `malformed`: nothing ran, and the model should repeat the call in the right form. */
  readonly status: "success" | "denied" | "error" | "malformed";
  /** The text for the model. */
  readonly text: string;
  /** Empty if the kernel was not called. */
  readonly requestId: string;
  /** In cost units. */
  readonly cost: number;
}

/** An outcome, and the text that may be recorded for it. */
export interface ExecutedCall {
  readonly outcome: CallOutcome;
  /** Undefined if the outcome's own text may be recorded. */
  readonly recorded: RecordedText | undefined;
}

export interface ExecuteCallOptions {
  readonly signal: AbortSignal;
  /** How long a call waits for an approval before the model is told that it is pending. */
  readonly approvalWaitMs: number;
  /** Generated if absent. */
  readonly requestId?: string | undefined;
}

/** A call with parsed arguments, and the declaration of its tool. */
export interface ReadCall {
  readonly tool: string;
  readonly input: JsonValue;
  /** Undefined for a tool that the model was not shown. */
  readonly declared: DeclaredTool | undefined;
}

/** Parses the arguments of a call. Returns an error text for the model if they are invalid. */
export function readCall({ name, arguments: text }: StreamedCall, tools: AgentTools): ReadCall | string {
  const declared = tools.declared.find(name);
  const parsed = parseArguments(text);
  if ("problem" in parsed) return correctionText([parsed.problem], declared?.decl);
  if (declared === undefined) return { tool: name, input: parsed.value, declared };
  const input = declared.toInput(parsed.value);
  if (input !== undefined) return { tool: declared.declaration.name, input, declared };
  return correctionText([`missing required field '${WRAPPED_FIELD}' in arguments`], declared.decl);
}

/**
 * Makes a call, waits for an approval if it needs one, and describes the response. Never rejects.
 *
 * SECURITY: a call of a tool that the model was not shown is sent nevertheless: the kernel refuses it and records the
 * attempt.
 */
export async function executeCall(
  call: ReadCall,
  tools: AgentTools,
  session: AgentSession,
  options: ExecuteCallOptions,
): Promise<ExecutedCall> {
  const { requestId, response } = await callAndWait(call, session, options);
  const told = await describeOutcome(response, call, tools, session);
  const outcome = { ...told, requestId, cost: costOf(response) };
  return { outcome, recorded: recordedText(response, { sessionId: session.id, requestId }) };
}

async function describeOutcome(
  response: ToolResponse,
  call: ReadCall,
  tools: AgentTools,
  session: AgentSession,
): Promise<Pick<CallOutcome, "status" | "text">> {
  const { result } = response;
  if (result.case === "error" && result.value.errorCode === "INVALID_INPUT") {
    return { status: "malformed", text: invalidInputText(call, response) };
  }
  if (call.declared === undefined && result.case !== "success") {
    return { status: "malformed", text: unknownToolText(call, response, tools) };
  }
  const allowed = result.case === "denied" ? await findNearestRules(session, call.tool, call.input) : [];
  return { status: result.case ?? "error", text: describeResponse(response, allowed).text };
}

/** Repeating the request joins the pending one, so no approval is requested twice and nothing is executed twice. */
async function callAndWait(
  { tool, input }: ReadCall,
  session: AgentSession,
  { signal, approvalWaitMs, requestId }: ExecuteCallOptions,
): Promise<AgentCallResponse> {
  let patience: AbortSignal | undefined;
  let answer = await session.call(tool, input, { signal, ...(requestId !== undefined && { requestId }) });
  for (;;) {
    const { result } = answer.response;
    if (result.case !== "error" || result.value.errorCode !== "APPROVAL_PENDING") return answer;
    // The tool itself failed with this code; no approval is pending.
    if (result.value.approvalId === "") return answer;
    patience ??= AbortSignal.any([signal, AbortSignal.timeout(approvalWaitMs)]);
    await waitUntilDecided(result.value.approvalId, session, patience);
    if (patience.aborted) return answer;
    answer = await session.call(tool, input, { signal, requestId: answer.requestId });
  }
}

async function waitUntilDecided(approvalId: string, session: AgentSession, signal: AbortSignal): Promise<void> {
  for await (const questions of session.watchApprovalRequests(signal)) {
    if (!questions.some((question) => question.approvalId === approvalId)) return;
  }
}

function costOf({ result }: ToolResponse): number {
  return result.case === "success" ? Number(result.value.budgetConsumed) : 0;
}

function invalidInputText({ declared }: ReadCall, { result }: ToolResponse): string {
  if (result.case !== "error") return "";
  const { violations, message } = result.value;
  const within = declared?.isWrapped === true ? WRAPPED_FIELD : "";
  const problems = violations.map((violation) => describeViolation(violation, within));
  return correctionText(problems.length === 0 ? [message] : problems, declared?.decl);
}

function unknownToolText({ tool }: ReadCall, response: ToolResponse, { declared }: AgentTools): string {
  const names = declared.decls.map(({ name }) => name);
  const near = nearestName(tool, names);
  const lines = [
    `Tool execution failed: there is no tool ${quoteText(tool)} for you${near === undefined ? "" : `; did you mean \`${near}\`?`}`,
    `Your tools: ${names.join(", ")}`,
    describeResponse(response).text,
  ];
  return lines.join("\n");
}
