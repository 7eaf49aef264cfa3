import { isDeepStrictEqual } from "node:util";
import { blake3, createId, KernelError } from "@narthex/contracts";
import type { AgentMessage, AssistantMessage } from "../model/agent-message.ts";
import type { ExecutedCall } from "../session/execute-call.ts";
import type { StreamedCall } from "../stream/call-delta.ts";
import type { AgentOptions } from "./agent-run.ts";
import { toRecordedMessages } from "./recorded-messages.ts";
import { toResultEntry } from "./result-entry.ts";
import type { BeginEntry, ResultEntry, Transcript, TranscriptEntry } from "./transcript.ts";

/** A message of the model, and what is known of its calls. */
export interface RecordedTurn {
  readonly message: AssistantMessage;
  readonly isCut: boolean;
  readonly cost: number;
  /** By the call's place. */
  readonly results: ReadonlyMap<number, ResultEntry>;
}

/** What is kept of a run while it goes on. */
export interface RunRecord {
  /** What the run began with, as far as it was kept. */
  readonly messages: readonly AgentMessage[];
  /** What the model said to a process that is gone. */
  readonly turns: readonly RecordedTurn[];
  /** The model has answered: nothing is left to do. */
  readonly isOver: boolean;
  noteTurn(turn: number, said: Omit<RecordedTurn, "results">): Promise<void>;
  noteResult(turn: number, at: number, answered: ExecutedCall): Promise<void>;
  /** The same for the same call of the same run, in whichever process. Undefined if nothing is kept. */
  requestIdOf(turn: number, at: number, call: StreamedCall): string | undefined;
}

/** Begins a run, or takes up the one that the transcript holds. */
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

/** SECURITY: another session knows none of the calls, and would make those again whose outcome is unknown. */
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

/** Of a result that stays with the kernel it matters only which it is: that may be refused by now. */
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
    // A run that was ended may have written one after the next run did; both have it from the kernel.
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
