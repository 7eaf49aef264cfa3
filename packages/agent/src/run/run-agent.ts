import type { AgentMessage, ToolMessage } from "../model/agent-message.ts";
import { type AgentTools, listAgentTools } from "../session/agent-tools.ts";
import type { CallOutcome } from "../session/answer-call.ts";
import type { StreamedCall } from "../stream/call-delta.ts";
import {
  type AgentEnd,
  type AgentEvent,
  type AgentLimits,
  type AgentOptions,
  type AgentResult,
  DEFAULT_LIMITS,
} from "./agent-run.ts";
import { createCorrections } from "./corrections.ts";
import { runBatch } from "./run-batch.ts";
import { runTurn, type Turn } from "./run-turn.ts";
import { watchQuestions } from "./watch-questions.ts";

/**
 * Lets a model work with the tools of a session until it answers without a call, or a limit ends it. Never rejects: what
 * went wrong is in the result, with the conversation up to there.
 */
export async function runAgent(options: AgentOptions): Promise<AgentResult> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const time = new AbortController();
  const timer = setTimeout(() => time.abort(), Math.min(limits.timeMs, MAX_TIMER_MS));
  const over = new AbortController();
  const signal = AbortSignal.any([time.signal, over.signal, ...(options.signal === undefined ? [] : [options.signal])]);
  const run = createRun(options);
  try {
    void watchQuestions(options.session, over.signal, run.tell);
    return run.result(await work(options, limits, run, signal));
  } catch (fault) {
    if (options.signal?.aborted === true) return run.result("cancelled");
    if (time.signal.aborted) return run.result("time");
    return { ...run.result("failed"), error: fault instanceof Error ? fault : new Error(String(fault)) };
  } finally {
    clearTimeout(timer);
    over.abort();
  }
}

/** The longest a timer of Node waits. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** What a run has come to so far. */
interface Run {
  readonly messages: AgentMessage[];
  turns: number;
  cost: number;
  text: string;
  tell(event: AgentEvent): Promise<void>;
  result(end: AgentEnd): AgentResult;
}

function createRun({ messages, onEvent }: AgentOptions): Run {
  const run: Run = {
    messages: [...messages],
    turns: 0,
    cost: 0,
    text: "",
    async tell(event) {
      await onEvent?.(event);
    },
    result: (end) => ({ end, text: run.text, messages: completed(run.messages), turns: run.turns, cost: run.cost }),
  };
  return run;
}

async function work(options: AgentOptions, limits: AgentLimits, run: Run, signal: AbortSignal): Promise<AgentEnd> {
  const { session, model, priceOf = ({ inputTokens, outputTokens }) => inputTokens + outputTokens } = options;
  let tools = listAgentTools(session);
  const corrections = createCorrections(limits.corrections, (name) => tools.declared.find(name) !== undefined);
  for (;;) {
    signal.throwIfAborted();
    if (run.turns >= limits.turns) return "turns";
    if (run.cost >= limits.cost) return "cost";
    // What a session may do changes while it works: rules are loaded, leases end.
    tools = listAgentTools(session);
    await run.tell({ type: "turn", turn: ++run.turns });
    const { tell, messages } = run;
    const turn = await runTurn({ model, messages, tools: tools.declared.decls, signal, tell });
    run.cost += priceOf(turn.usage);
    run.text = turn.message.text;
    run.messages.push(turn.message);
    await run.tell({ type: "usage", usage: turn.usage, cost: run.cost });
    if (turn.message.calls.length === 0) return turn.isCut ? "length" : "answered";
    const outcomes = await answerAll(turn, { options, limits, run, tools, signal });
    corrections.note(turn.message.calls, outcomes);
    if (corrections.isExhausted) return "corrections";
  }
}

interface Answering {
  readonly options: AgentOptions;
  readonly limits: AgentLimits;
  readonly run: Run;
  readonly tools: AgentTools;
  readonly signal: AbortSignal;
}

async function answerAll(
  { message: { calls }, isCut }: Turn,
  { options: { session }, limits, run, tools, signal }: Answering,
): Promise<CallOutcome[]> {
  // What the model asked for with money that is spent is not done any more.
  if (run.cost >= limits.cost) return [];
  const outcomes = await runBatch({ calls, isCut, tools, session, limits, signal, tell: run.tell });
  for (const [at, call] of calls.entries()) {
    const outcome = outcomes[at];
    if (outcome === undefined) continue;
    run.cost += outcome.cost;
    run.messages.push(toMessage(call, outcome));
  }
  return outcomes;
}

/** INVARIANT: every call gets a result, however the run ended: no provider takes up a conversation without. */
function completed(messages: readonly AgentMessage[]): AgentMessage[] {
  const at = messages.findLastIndex(({ role }) => role === "assistant");
  const last = messages[at];
  if (last?.role !== "assistant") return [...messages];
  // Ids may come again in every message.
  const answered = new Set(messages.slice(at).flatMap((message) => (message.role === "tool" ? [message.callId] : [])));
  const open = last.calls.filter(({ id }) => !answered.has(id));
  return [...messages, ...open.map((call) => toMessage(call, ENDED))];
}

const ENDED: CallOutcome = {
  status: "error",
  text: "The run ended before this call had a result. If it was made at all is in the ledger.",
  requestId: "",
  cost: 0,
};

function toMessage({ id, name }: StreamedCall, { text, status }: CallOutcome): ToolMessage {
  return { role: "tool", callId: id, name, text, isError: status !== "success" };
}
