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

/** What became of one call that a model made. */
export interface CallOutcome {
  /** `malformed`: nothing ran, and the model is to send it again in the right form. */
  readonly status: "success" | "denied" | "error" | "malformed";
  /** What the model is told. */
  readonly text: string;
  /** Empty if the kernel was not asked. */
  readonly requestId: string;
  /** Cost units. */
  readonly cost: number;
}

/** The same with what may be written down of it. */
export interface ExecutedCall {
  readonly outcome: CallOutcome;
  /** Undefined where the text may be. */
  readonly recorded: RecordedText | undefined;
}

export interface ExecuteCallOptions {
  readonly signal: AbortSignal;
  /** How long a call waits for a person before the model is told that it does. */
  readonly approvalWaitMs: number;
  /** Made up when absent. */
  readonly requestId?: string | undefined;
}

/** A call with arguments that could be read, and what is known of its tool. */
export interface ReadCall {
  readonly tool: string;
  readonly input: JsonValue;
  /** Undefined for a tool that the model was not shown. */
  readonly declared: DeclaredTool | undefined;
}

/** Reads the arguments of a call. A text is what the model is told if it cannot be made. */
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
 * Makes a call, waits for the person it may need, and puts the answer into words. Never rejects.
 *
 * SECURITY: a tool that the model was not shown is asked for all the same: the kernel refuses it and the attempt is on record.
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

/** The same request again joins the one that waits, so nothing is asked or done twice. */
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
    // Said by a tool: nobody was asked.
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
