import { isDeepStrictEqual } from "node:util";
import { blake3, createId, KernelError } from "@narthex/contracts";
import type { AgentMessage, AssistantMessage } from "../model/agent-message.ts";
import type { ExecutedCall } from "../session/execute-call.ts";
import type { StreamedCall } from "../stream/call-delta.ts";
import type { AgentOptions } from "./agent-run.ts";
import { toRecordedMessages } from "./recorded-messages.ts";
import { toResultEntry } from "./result-entry.ts";
import type { BeginEntry, ResultEntry, Transcript, TranscriptEntry } from "./transcript.ts";

/** A message of the model, and the recorded results of its calls. */
export interface RecordedTurn {
  readonly message: AssistantMessage;
  readonly isCut: boolean;
  readonly cost: number;
  /** By the index of the call. */
  readonly results: ReadonlyMap<number, ResultEntry>;
}

/** The record of a run in progress. */
export interface RunRecord {
  /** The initial messages of the run, as far as they were recorded. */
  readonly messages: readonly AgentMessage[];
  /** Recorded messages of the model from earlier processes. */
  readonly turns: readonly RecordedTurn[];
  /** Whether the model has already responded without a call, so that nothing is left to do. */
  readonly isOver: boolean;
  noteTurn(turn: number, said: Omit<RecordedTurn, "results">): Promise<void>;
  noteResult(turn: number, at: number, answered: ExecutedCall): Promise<void>;
  /** Deterministic: the same call of the same run has the same id in every process. Undefined without a transcript. */
  requestIdOf(turn: number, at: number, call: StreamedCall): string | undefined;
}

/** Begins a run, or resumes the one in the transcript. */
export async function openRunRecord(options: AgentOptions): Promise<RunRecord> {
  const { transcript, session, messages } = options;
  if (transcript === undefined) {
    await session.authenticate();
    return {
      messages,
      turns: [],
      isOver: false,
      noteTurn: () => Promise.resolve(),
      noteResult: () => Promise.resolve(),
      requestIdOf: () => undefined,
    };
  }
  const [first, ...entries] = await transcript.read();
  const turns = turnsOf(entries);
  const isOver = turns.at(-1)?.message.calls.length === 0;
  const taken = first && resumeRun(first, options);
  if (!isOver) await session.authenticate();
  const begin = taken ?? (await beginRun(transcript, options));
  return {
    messages: begin.messages,
    turns,
    isOver,
    async noteTurn(turn, { message, isCut, cost }) {
      if (!Number.isFinite(cost)) throw invalid("the price of a message must be a finite number");
      await transcript.append({ type: "turn", turn, message, isCut, cost });
    },
    noteResult: (turn, at, answered) => transcript.append(toResultEntry(turn, at, answered)),
    requestIdOf: (turn, at, call) => requestIdOf(begin.runId, turn, at, call),
  };
}

async function beginRun(transcript: Transcript, { session, messages }: AgentOptions): Promise<BeginEntry> {
  if (messages.length === 0) throw invalid("there is no message to begin with, and the transcript holds none");
  const runId = crypto.randomUUID();
  const begin: BeginEntry = { type: "begin", runId, sessionId: session.id, messages: toRecordedMessages(messages) };
  await transcript.append(begin);
  return begin;
}

/** SECURITY: another session does not know the calls, and would execute those whose outcome is unknown again. */
function resumeRun(first: TranscriptEntry, { session, messages }: AgentOptions): BeginEntry {
  if (first.type !== "begin") throw damaged("has no beginning");
  if (first.sessionId !== session.id) {
    throw invalid("the transcript belongs to another session: take up that session, or begin a new transcript");
  }
  if (messages.length > 0 && !isSame(first.messages, messages)) {
    throw invalid("the transcript holds another conversation: begin a new one");
  }
  return first;
}

/**
 * Compares recorded messages with given ones. A result whose text stays in the kernel is compared by its call only,
 * because the kernel may refuse the text by now.
 */
function isSame(kept: readonly AgentMessage[], given: readonly AgentMessage[]): boolean {
  const comparable = toRecordedMessages(given).map((message, at) => {
    const before = kept[at];
    if (message.role !== "tool" || before?.role !== "tool" || before.recorded === undefined) return message;
    return { ...before, callId: message.callId, name: message.name };
  });
  return isDeepStrictEqual(kept, JSON.parse(JSON.stringify(comparable)));
}

function turnsOf(entries: readonly TranscriptEntry[]): RecordedTurn[] {
  const turns: (Omit<RecordedTurn, "results"> & { readonly results: Map<number, ResultEntry> })[] = [];
  for (const entry of entries) {
    if (entry.type === "begin") throw damaged("begins twice");
    if (entry.type === "turn") {
      const { turn, message, isCut, cost } = entry;
      if (turn !== turns.length + 1) throw damaged("was written by two runs at once");
      turns.push({ message, isCut, cost, results: new Map() });
      continue;
    }
    const turn = turns[entry.turn - 1];
    if (turn?.message.calls[entry.at] === undefined) throw damaged("has a result without its call");
    // An ended run may have written a result after the next run did; both got it from the kernel.
    if (!turn.results.has(entry.at)) turn.results.set(entry.at, entry);
  }
  return turns;
}

function requestIdOf(runId: string, turn: number, at: number, { id, name, arguments: text }: StreamedCall): string {
  const digest = blake3(Buffer.from(JSON.stringify([runId, turn, at, id, name, text])));
  return createId("req", (length) => digest.subarray(0, length));
}

function invalid(message: string): KernelError {
  return new KernelError("INVALID_REQUEST", message);
}

function damaged(problem: string): KernelError {
  return new KernelError("CONTENT_DAMAGED", `the transcript ${problem}`);
}
