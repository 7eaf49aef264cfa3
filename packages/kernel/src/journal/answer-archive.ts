import {
  ContentPlace,
  ContentRole,
  type ContentItem,
  type Entry,
  fromBinary,
  MAX_INLINE_RESULT_BYTES,
  type Outcome,
  RecordContentSchema,
  type RecordMessage,
  RecordSchema,
  type ToolError,
  ToolErrorSchema,
} from "@narthex/contracts";
import type { ContentStore, Store, StoredRecord } from "../ports.ts";
import { createModelView } from "../result/model-view.ts";
import type { ResultType } from "../tool/tool.ts";
import type { CallAnswer } from "./call-answer.ts";
import { errorMessage, successMessage } from "./response-messages.ts";

/** What is known of an earlier request. */
export interface ArchivedCall {
  readonly requestDigest: Uint8Array;
  /** Undefined if it left no answer that could be given again. */
  readonly answer: CallAnswer | undefined;
}

/** Earlier answers by request id: the recent ones from memory, all others from the ledger. */
export interface AnswerArchive {
  find(sessionId: string, requestId: string): Promise<ArchivedCall | undefined>;
  remember(sessionId: string, requestId: string, call: ArchivedCall): void;
  forget(sessionId: string, requestId: string): void;
}

const MAX_REMEMBERED = 2048;
const MAX_REMEMBERED_BYTES = 16 * 1024;
const VIEWED_BYTES = 64 * 1024;
const NO_BYTES = new Uint8Array(0);

export function createAnswerArchive(parts: {
  readonly store: Store;
  readonly contentStore: ContentStore;
  readonly viewBytes: number;
}): AnswerArchive {
  const recent = new Map<string, ArchivedCall>();

  async function readBack(index: number, hops: number): Promise<ArchivedCall | undefined> {
    const stored = await parts.store.readRecord(index);
    if (stored === undefined) return undefined;
    const message = fromBinary(RecordSchema, stored.record);
    const repeated = findEntry(message, "callRepeated");
    if (repeated !== undefined && hops > 0) return readBack(Number(repeated.firstRecordIndex), hops - 1);
    const { items } = fromBinary(RecordContentSchema, stored.content);
    const request = items.find((item) => item.role === ContentRole.REQUEST);
    if (request === undefined) return undefined;
    return { requestDigest: request.digest, answer: await rebuild(stored, message, items) };
  }

  async function rebuild(
    stored: StoredRecord,
    message: RecordMessage,
    items: readonly ContentItem[],
  ): Promise<CallAnswer | undefined> {
    const about = {
      recordIndex: stored.index,
      tool: toolOf(message),
      source: "",
      sideEffects: [],
      raw: undefined,
      normalised: undefined,
      proof: undefined,
    };
    const proofHash = items.find((item) => item.role === ContentRole.PROOF)?.digest ?? NO_BYTES;
    const completed = findEntry(message, "toolCompleted");
    if (completed !== undefined) {
      const head = await readResult(items);
      if (head === undefined) return undefined;
      const value = rebuildSuccess(completed, head, items, proofHash, about.tool);
      return { ...about, final: true, result: { case: "success", value }, normalised: value.inlineResult };
    }
    const settled = findEntry(message, "outcomeSettled");
    if (settled !== undefined) {
      return settled.answer === "happened" ? { ...about, final: true, result: lostResult(proofHash) } : undefined;
    }
    const failed = findEntry(message, "toolFailed") ?? findEntry(message, "toolTimedOut");
    if (failed === undefined || failed.spent.length === 0) return undefined;
    const value = rebuildError(failed, items, proofHash);
    const final = failed.effectsPossible || !failed.retryable;
    return { ...about, final, result: { case: "error", value } };
  }

  /** All of a small result, the beginning of a large one; undefined once erased. */
  async function readResult(items: readonly ContentItem[]): Promise<Uint8Array | undefined> {
    const item = items.find((candidate) => candidate.role === ContentRole.RESULT);
    if (item === undefined) return undefined;
    if (item.place === ContentPlace.ROW) return item.data;
    if (item.place !== ContentPlace.FILE) return undefined;
    const wanted = item.size <= MAX_INLINE_RESULT_BYTES ? Number(item.size) : VIEWED_BYTES;
    const chunks: Uint8Array[] = [];
    for await (const chunk of parts.contentStore.read(item.digest, 0, wanted)) chunks.push(chunk.slice());
    return Buffer.concat(chunks);
  }

  function rebuildSuccess(
    outcome: Outcome,
    head: Uint8Array,
    items: readonly ContentItem[],
    proofHash: Uint8Array,
    tool: string,
  ) {
    const digest = items.find((item) => item.role === ContentRole.RESULT)?.digest ?? NO_BYTES;
    const size = Number(outcome.resultSize);
    const view = createModelView({ type: outcome.resultType as ResultType, digest, size, head }, parts.viewBytes);
    const cost = outcome.spent.find((spent) => spent.dimension === "cost_units")?.amount ?? 0n;
    return successMessage({
      resultHash: digest,
      inlineResult: size <= MAX_INLINE_RESULT_BYTES ? head : NO_BYTES,
      budgetConsumed: Number(cost),
      durationMs: Number(outcome.durationMs),
      proofHash,
      view: view.text,
      labels: outcome.labels,
      tool,
      resultType: outcome.resultType,
      resultSize: size,
      cut: view.cut,
    });
  }

  return {
    async find(sessionId, requestId) {
      const remembered = recent.get(keyOf(sessionId, requestId));
      if (remembered !== undefined) return remembered;
      const index = await parts.store.findRequest(sessionId, requestId);
      return index === undefined ? undefined : readBack(index, 1);
    },
    remember(sessionId, requestId, call) {
      const key = keyOf(sessionId, requestId);
      recent.delete(key);
      if (call.answer !== undefined && sizeOf(call.answer) > MAX_REMEMBERED_BYTES) return;
      recent.set(key, {
        requestDigest: call.requestDigest,
        answer: call.answer && { ...call.answer, raw: undefined, proof: undefined, normalised: undefined },
      });
      if (recent.size <= MAX_REMEMBERED) return;
      const oldest = recent.keys().next().value;
      if (oldest !== undefined) recent.delete(oldest);
    },
    forget(sessionId, requestId) {
      recent.delete(keyOf(sessionId, requestId));
    },
  };
}

function keyOf(sessionId: string, requestId: string): string {
  return `${sessionId}/${requestId}`;
}

function sizeOf(answer: CallAnswer): number {
  if (answer.result.case !== "success") return 1024;
  return answer.result.value.inlineResult.length + answer.result.value.view.length;
}

type EntryCase = Exclude<Entry["kind"]["case"], undefined>;
type EntryValue<C extends EntryCase> = Extract<Entry["kind"], { case: C }>["value"];

function findEntry<C extends EntryCase>(message: RecordMessage, wanted: C): EntryValue<C> | undefined {
  const entry = message.entries.find(({ kind }) => kind.case === wanted);
  return entry?.kind.value as EntryValue<C> | undefined;
}

function toolOf(message: RecordMessage): string {
  const invoked = findEntry(message, "toolInvoked");
  return invoked === undefined ? "" : `${invoked.toolName}@${invoked.toolVersion}`;
}

function rebuildError(outcome: Outcome, items: readonly ContentItem[], proofHash: Uint8Array): ToolError {
  const item = items.find((candidate) => candidate.role === ContentRole.ERROR);
  if (item !== undefined && item.place === ContentPlace.ROW) {
    return { ...fromBinary(ToolErrorSchema, item.data), proofHash };
  }
  return errorMessage({
    errorCode: outcome.code,
    message: "the text of this error was erased",
    retryable: outcome.retryable,
    retryAfterMs: 0,
    violations: [],
    proofHash,
    effectsPossible: outcome.effectsPossible,
    approvalId: "",
  });
}

/** A person said that it happened: it is never run again under this id, and its result is gone. */
function lostResult(proofHash: Uint8Array): CallAnswer["result"] {
  const value = errorMessage({
    errorCode: "OUTCOME_UNKNOWN",
    message: "this call was settled as having happened; its result was lost, and it is not run again",
    retryable: false,
    retryAfterMs: 0,
    violations: [],
    proofHash,
    effectsPossible: true,
    approvalId: "",
  });
  return { case: "error", value };
}
