import {
  ContentPlace,
  ContentRole,
  type ContentItem,
  type Entry,
  fromBinary,
  KernelError,
  MAX_INLINE_RESULT_BYTES,
  type Outcome,
  RecordContentSchema,
  type RecordMessage,
  RecordSchema,
  type ToolError,
  ToolErrorSchema,
  type ToolSuccess,
} from "@narthex/contracts";
import type { ContentStore, Store } from "../ports.ts";
import { copyBytes } from "../result/copy-bytes.ts";
import { createModelView } from "../result/model-view.ts";
import { readFileContent } from "../result/read-file-content.ts";
import type { ResultType } from "../tool/tool.ts";
import type { ArchivedCall } from "./answer-archive.ts";
import type { CallAnswer } from "./call-answer.ts";
import { lostAnswer } from "./lost-answer.ts";
import { errorMessage, successMessage } from "./response-messages.ts";

export interface AnswerReaderParts {
  readonly store: Store;
  readonly contentStore: ContentStore;
  viewBytesOf(toolId: string): number;
  firstLineOf(toolId: string, input: Uint8Array): number | undefined;
}

interface ReadRecord {
  readonly index: number;
  readonly message: RecordMessage;
  readonly items: readonly ContentItem[];
}

const NO_BYTES = new Uint8Array(0);
/** A character more than a view shows, so that the cut is found where it was. */
const CHARACTER_BYTES = 4;

/**
 * Makes an answer again from the record that sealed it: field by field what was answered first. Undefined where the
 * record ends a call that was never started: such a one answers for nothing.
 */
export function createAnswerReader(parts: AnswerReaderParts): (index: number) => Promise<ArchivedCall | undefined> {
  async function readRecord(index: number): Promise<ReadRecord> {
    const stored = await parts.store.readRecord(index);
    // SECURITY: the store counted it once. To answer as if nothing was asked for would do it again.
    // Tested by "a file of records cut in half loses no answer without a word, and has nothing done twice".
    if (stored === undefined) throw new KernelError("STORE_UNAVAILABLE", `record ${index} is lost`);
    const message = fromBinary(RecordSchema, stored.record);
    return { index, message, items: fromBinary(RecordContentSchema, stored.content).items };
  }

  async function rebuild(record: ReadRecord): Promise<CallAnswer | undefined> {
    const { index, message, items } = record;
    const completed = findEntry(message, "toolCompleted");
    const failed = findEntry(message, "toolFailed") ?? findEntry(message, "toolTimedOut");
    if (completed === undefined && (failed === undefined || failed.spent.length === 0)) return undefined;
    const proofHash = items.findLast((item) => item.role === ContentRole.PROOF)?.digest ?? NO_BYTES;
    const about = {
      recordIndex: index,
      tool: await toolOf(record, proofHash),
      source: "",
      sideEffects: [],
      raw: undefined,
      normalised: undefined,
      proof: undefined,
    };
    if (completed !== undefined) {
      const value = await rebuildSuccess(completed, items, proofHash, about.tool);
      const isWithheld = items.some(({ role, place }) => role === ContentRole.RESULT && place === ContentPlace.NONE);
      return value === undefined
        ? lostAnswer(isWithheld ? "withheld" : "erased", index, about)
        : { ...about, final: true, result: { case: "success", value } };
    }
    if (failed === undefined) return undefined;
    return {
      ...about,
      final: !failed.retryable,
      result: { case: "error", value: rebuildError(failed, items, proofHash) },
    };
  }

  /** An outcome apart from its beginning names no tool; but equal proofs decide on the same tool and version. */
  async function toolOf({ message }: ReadRecord, proofHash: Uint8Array): Promise<string> {
    const named = toolNamedBy(message);
    if (named !== "" || proofHash.length === 0) return named;
    const holdings = await parts.store.findContent(proofHash, message.chain);
    const holding = holdings.find(({ role, place }) => role === ContentRole.PROOF && place === ContentPlace.ROW);
    const stored = holding && (await parts.store.readRecord(holding.recordIndex));
    return stored === undefined ? "" : toolNamedBy(fromBinary(RecordSchema, stored.record));
  }

  /** Undefined once the result was erased. */
  async function rebuildSuccess(
    outcome: Outcome,
    items: readonly ContentItem[],
    proofHash: Uint8Array,
    tool: string,
  ): Promise<ToolSuccess | undefined> {
    const item = items.find((candidate) => candidate.role === ContentRole.RESULT);
    const viewBytes = parts.viewBytesOf(tool);
    const head = item && (await readHead(item, viewBytes));
    if (item === undefined || head === undefined) return undefined;
    const size = Number(outcome.resultSize);
    const type = outcome.resultType as ResultType;
    const input = items.find((candidate) => candidate.role === ContentRole.INPUT)?.data ?? NO_BYTES;
    const firstLine = parts.firstLineOf(tool, input);
    const view = createModelView({ type, digest: item.digest, size, head }, viewBytes, firstLine);
    const cost = outcome.spent.find((spent) => spent.dimension === "cost_units")?.amount ?? 0n;
    return successMessage({
      resultHash: item.digest,
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

  /** All of what travels inline, of anything larger as much as its view shows. */
  async function readHead(item: ContentItem, viewBytes: number): Promise<Uint8Array | undefined> {
    if (item.place === ContentPlace.ROW) return item.data;
    if (item.place !== ContentPlace.FILE) return undefined;
    const size = Number(item.size);
    const wanted = size <= MAX_INLINE_RESULT_BYTES ? size : Math.min(size, viewBytes + CHARACTER_BYTES);
    const chunks: Uint8Array[] = [];
    const content = { digest: item.digest, size };
    for await (const chunk of readFileContent(parts.contentStore, content, 0, wanted)) chunks.push(copyBytes(chunk));
    return Buffer.concat(chunks);
  }

  return async (index) => {
    let record = await readRecord(index);
    const repeated = findEntry(record.message, "callRepeated");
    // A repeat names the record with the outcome, which is no repeat itself.
    if (repeated !== undefined) record = await readRecord(Number(repeated.firstRecordIndex));
    const request = record.items.find((item) => item.role === ContentRole.REQUEST);
    // What was asked cannot be compared any more: whatever comes under this id is answered that it is gone.
    if (request?.place === ContentPlace.ERASED) {
      return { requestDigest: NO_BYTES, answer: lostAnswer("erased", record.index) };
    }
    const answer = request && (await rebuild(record));
    return request && answer && { requestDigest: request.digest, answer };
  };
}

type EntryCase = Exclude<Entry["kind"]["case"], undefined>;
type EntryValue<C extends EntryCase> = Extract<Entry["kind"], { case: C }>["value"];

function findEntry<C extends EntryCase>(message: RecordMessage, wanted: C): EntryValue<C> | undefined {
  const entry = message.entries.find(({ kind }) => kind.case === wanted);
  return entry?.kind.value as EntryValue<C> | undefined;
}

function toolNamedBy(message: RecordMessage): string {
  const invoked = findEntry(message, "toolInvoked");
  return invoked === undefined ? "" : `${invoked.toolName}@${invoked.toolVersion}`;
}

function rebuildError(outcome: Outcome, items: readonly ContentItem[], proofHash: Uint8Array): ToolError {
  const item = items.find((candidate) => candidate.role === ContentRole.ERROR);
  if (item?.place === ContentPlace.ROW) return { ...fromBinary(ToolErrorSchema, item.data), proofHash };
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
