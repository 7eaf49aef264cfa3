import type { AgentMessage } from "../model/agent-message.ts";
import { type AgentTools, listAgentTools } from "../session/agent-tools.ts";
import type { ExecutedCall } from "../session/execute-call.ts";
import {
  type AgentEnd,
  type AgentEvent,
  type AgentLimits,
  type AgentOptions,
  type AgentResult,
  checkAgentOptions,
  DEFAULT_LIMITS,
} from "./agent-run.ts";
import { completeMessages, toMessage } from "./complete-messages.ts";
import { type Corrections, createCorrections } from "./corrections.ts";
import { lockTranscript } from "./lock-transcript.ts";
import { restoreMessages } from "./recorded-messages.ts";
import { runBatch } from "./run-batch.ts";
import { openRunRecord, type RecordedTurn, type RunRecord } from "./run-record.ts";
import { runTurn } from "./run-turn.ts";
import { watchApprovalRequests } from "./watch-approval-requests.ts";

/**
 * Lets a model work with the tools of a session until it responds without a call, or a limit ends the run. Never
 * rejects: errors are in the result, with the conversation so far.
 */
export async function runAgent(options: AgentOptions): Promise<AgentResult> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const time = new AbortController();
  const timer = setTimeout(() => time.abort(), Math.min(limits.timeMs, MAX_TIMER_MS));
  const over = new AbortController();
  const signal = AbortSignal.any([time.signal, over.signal, ...(options.signal === undefined ? [] : [options.signal])]);
  const run = createRun(options);
  let letGo = (): void => undefined;
  try {
    checkAgentOptions(options);
    letGo = lockTranscript(options.transcript);
    const record = await openRunRecord(options);
    void watchApprovalRequests(options.session, over.signal, run.tell);
    return run.result(await work({ options, limits, run, record, signal }));
  } catch (fault) {
    if (options.signal?.aborted === true) return run.result("cancelled");
    if (time.signal.aborted) return run.result("time");
    return { ...run.result("failed"), error: fault instanceof Error ? fault : new Error(String(fault)) };
  } finally {
    clearTimeout(timer);
    over.abort();
    letGo();
  }
}

/** Maximum delay of a Node timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The state of a run so far. */
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
    result: (end) => ({
      end,
      text: run.text,
      messages: completeMessages(run.messages),
      turns: run.turns,
      cost: run.cost,
    }),
  };
  return run;
}

interface RunState {
  readonly options: AgentOptions;
  readonly limits: AgentLimits;
  readonly run: Run;
  readonly record: RunRecord;
  readonly signal: AbortSignal;
}

async function work(given: RunState): Promise<AgentEnd> {
  const { options, limits, run, record, signal } = given;
  const { session, model, priceOf = ({ inputTokens, outputTokens }) => inputTokens + outputTokens } = options;
  let tools = listAgentTools(session);
  const allowed = record.isOver ? Number.POSITIVE_INFINITY : limits.corrections;
  const corrections = createCorrections(allowed, (name) => tools.declared.find(name) !== undefined);
  // If messages were given, they equal the recorded ones.
  if (options.messages.length === 0) {
    const { approvalWaitMs } = limits;
    run.messages.push(...(await restoreMessages(record.messages, session, tools, { signal, approvalWaitMs })));
  }
  for (const turn of record.turns) {
    signal.throwIfAborted();
    run.turns++;
    const end = await runTurnCalls(turn, { ...given, tools, corrections });
    if (end !== undefined) return end;
  }
  for (;;) {
    signal.throwIfAborted();
    if (run.turns >= limits.turns) return "turns";
    if (run.cost >= limits.cost) return "cost";
    // The permissions of a session change while it works: rules are loaded, leases expire.
    tools = listAgentTools(session);
    await run.tell({ type: "turn", turn: ++run.turns });
    const { tell, messages } = run;
    const { message, usage, isCut } = await runTurn({ model, messages, tools: tools.declared.decls, signal, tell });
    const turn = { message, isCut, cost: priceOf(usage), results: NO_RESULTS };
    // INVARIANT: a message is recorded before any of its calls is executed, so that no call goes unrecorded.
    await record.noteTurn(run.turns, turn);
    await run.tell({ type: "usage", usage, cost: run.cost + turn.cost });
    const end = await runTurnCalls(turn, { ...given, tools, corrections });
    if (end !== undefined) return end;
  }
}

const NO_RESULTS: RecordedTurn["results"] = new Map();

interface TurnState extends RunState {
  readonly tools: AgentTools;
  readonly corrections: Corrections;
}

/** Executes the calls of a message that have no result yet. Undefined if the model should continue. */
async function runTurnCalls(turn: RecordedTurn, taking: TurnState): Promise<AgentEnd | undefined> {
  const { run, corrections } = taking;
  run.cost += turn.cost;
  run.text = turn.message.text;
  run.messages.push(turn.message);
  if (turn.message.calls.length === 0) return turn.isCut ? "length" : "answered";
  const answers = await executeAll(turn, taking);
  corrections.note(
    turn.message.calls,
    answers.map((answered) => answered?.outcome),
  );
  return corrections.isExhausted ? "corrections" : undefined;
}

async function executeAll(
  { message: { calls }, isCut, results }: RecordedTurn,
  { options: { session }, limits, run, record, tools, signal }: TurnState,
): Promise<(ExecutedCall | undefined)[]> {
  const answers = await runBatch({
    calls,
    isCut,
    tools,
    session,
    limits,
    signal,
    // Once the cost limit is reached, the remaining calls of the message are not executed.
    isSpent: run.cost >= limits.cost,
    results,
    requestIdOf: (at, call) => record.requestIdOf(run.turns, at, call),
    note: (at, answered) => record.noteResult(run.turns, at, answered),
    tell: run.tell,
  });
  for (const [at, call] of calls.entries()) {
    const answered = answers[at];
    if (answered === undefined) continue;
    run.cost += answered.outcome.cost;
    run.messages.push(toMessage(call, answered));
  }
  return answers;
}
