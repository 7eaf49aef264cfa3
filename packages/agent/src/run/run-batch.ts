import type { AgentSession } from "../session/agent-session.ts";
import type { AgentTools } from "../session/agent-tools.ts";
import { type ExecutedCall, executeCall, type CallOutcome, readCall } from "../session/execute-call.ts";
import type { StreamedCall } from "../stream/call-delta.ts";
import type { AgentEvent, AgentLimits } from "./agent-run.ts";
import { createCallLane } from "./call-lane.ts";
import type { ResultEntry } from "./transcript.ts";

export interface Batch {
  readonly calls: readonly StreamedCall[];
  /** The message was cut off, so its last call may lack some of its arguments. */
  readonly isCut: boolean;
  readonly tools: AgentTools;
  readonly session: AgentSession;
  readonly limits: Pick<AgentLimits, "parallel" | "callsPerTurn" | "approvalWaitMs">;
  readonly signal: AbortSignal;
  /** Whether the cost limit is reached: then only recorded results are used and no call is executed. */
  readonly isSpent: boolean;
  /** Recorded results from before a crash, by the index of the call. */
  readonly results: ReadonlyMap<number, ResultEntry>;
  readonly requestIdOf: (at: number, call: StreamedCall) => string | undefined;
  /** Records an outcome before it is reported. */
  readonly note: (at: number, answered: ExecutedCall) => Promise<void>;
  readonly tell: (event: AgentEvent) => Promise<void>;
}

/**
 * Runs the calls of one message: consecutive read-only calls in parallel, all others in their order. Returns one result
 * per call, in the order of the calls; undefined for a call that is no longer executed.
 */
export async function runBatch(batch: Batch): Promise<(ExecutedCall | undefined)[]> {
  const { calls, isCut, tools, limits, tell } = batch;
  const lane = createCallLane(limits.parallel);
  const failed = new AbortController();
  const signal = AbortSignal.any([batch.signal, failed.signal]);

  async function settle(call: StreamedCall, at: number, answered: ExecutedCall): Promise<ExecutedCall> {
    const known = batch.results.get(at);
    if (known === undefined) await batch.note(at, answered);
    const outcome = known === undefined ? answered.outcome : { ...answered.outcome, cost: known.cost };
    await tell({ type: "result", call, outcome });
    return { ...answered, outcome };
  }

  async function answer(call: StreamedCall, at: number): Promise<ExecutedCall | undefined> {
    const known = batch.results.get(at);
    if (known === undefined && batch.isSpent) return undefined;
    const told = restoredCall(known);
    if (told !== undefined) return told;
    const why = at >= limits.callsPerTurn ? tooMany(limits) : isCut && at === calls.length - 1 ? CUT_OFF : undefined;
    const read = why ?? readCall(call, tools);
    if (typeof read === "string") {
      return settle(call, at, toUnrecorded({ status: "malformed", text: read, requestId: "", cost: 0 }));
    }
    return lane.run(tools.isReadOnly(read), async () => {
      if (signal.aborted) return toUnrecorded(NOT_RUN);
      await tell({ type: "call", call });
      const requestId = batch.requestIdOf(at, call);
      const options = { signal, approvalWaitMs: limits.approvalWaitMs, requestId };
      return settle(call, at, await executeCall(read, tools, batch.session, options));
    });
  }

  const answers = calls.map((call, at) =>
    answer(call, at).catch((fault: unknown) => {
      failed.abort(fault);
      return undefined;
    }),
  );
  // INVARIANT: when this function ends, for whatever reason, none of its calls is running and nothing more is written.
  const answered = await Promise.all(answers);
  failed.signal.throwIfAborted();
  return answered;
}

function restoredCall(known: ResultEntry | undefined): ExecutedCall | undefined {
  if (known?.text === undefined) return undefined;
  const { status, text, requestId, cost } = known;
  return toUnrecorded({ status, text, requestId, cost });
}

/** An outcome whose text may be recorded. */
function toUnrecorded(outcome: CallOutcome): ExecutedCall {
  return { outcome, recorded: undefined };
}

/** SECURITY: the remainder of a call that was cut off may be a valid call, but a different one than intended. */
const CUT_OFF =
  "Tool execution failed: your message reached its length limit in the middle of this call; make it again in a shorter one";

function tooMany({ callsPerTurn }: Pick<AgentLimits, "callsPerTurn">): string {
  return `Tool execution failed: only the first ${callsPerTurn} calls of a message are made; make this one in your next message`;
}

const NOT_RUN: CallOutcome = {
  status: "error",
  text: "This call was not made: the run had ended.",
  requestId: "",
  cost: 0,
};
