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
import { printedView } from "../result/printed-view.ts";
import { readFileContent } from "../result/read-file-content.ts";
import { TAIL_BYTES } from "../result/tail-bytes.ts";
import type { ViewPart } from "../result/view-part.ts";
import type { ResultType } from "../tool/tool.ts";
import type { ArchivedCall } from "./response-archive.ts";
import type { CallResponse } from "./call-response.ts";
import { createLostResponse } from "./lost-response.ts";
import { errorMessage, successMessage } from "./response-messages.ts";

export interface ResponseReaderParts {
  readonly store: Store;
  readonly contentStore: ContentStore;
  viewBytesOf(toolId: string): number;
  firstLineOf(toolId: string, input: Uint8Array): number | undefined;
  /** The result in the tool's plain text, if the tool defines one. */
  plainTextOf(toolId: string, result: Uint8Array): readonly ViewPart[] | undefined;
}

interface DecodedRecord {
  readonly index: number;
  readonly message: RecordMessage;
  readonly items: readonly ContentItem[];
}

const NO_BYTES = new Uint8Array(0);
/** One character more than a view shows, so that the view is cut at the same place as before. */
const CHARACTER_BYTES = 4;
/** Maximum size of a JSON result that is read completely because its tool may show it as plain text. */
const MAX_PLAIN_BYTES = 16 * 1024 * 1024;

/**
 * Rebuilds a response from the record of its outcome, equal to the first response field by field. Undefined if the
 * record ends a call that was never started: such a record is no response to a repeat.
 */
export function createResponseReader(parts: ResponseReaderParts): (index: number) => Promise<ArchivedCall | undefined> {
  async function readRecord(index: number): Promise<DecodedRecord> {
    const stored = await parts.store.readRecord(index);
    // SECURITY: the store has counted this record. If the request were treated as new, its effect would happen again.
    // Tested by "a file of records cut in half loses no answer without a word, and has nothing done twice".
    if (stored === undefined) throw new KernelError("STORE_UNAVAILABLE", `record ${index} is lost`);
    const message = fromBinary(RecordSchema, stored.record);
    return { index, message, items: fromBinary(RecordContentSchema, stored.content).items };
  }

  async function rebuild(record: DecodedRecord): Promise<CallResponse | undefined> {
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
        ? createLostResponse(isWithheld ? "withheld" : "erased", index, about)
        : { ...about, isFinal: true, result: { case: "success", value } };
    }
    if (failed === undefined) return undefined;
    return {
      ...about,
      isFinal: !failed.retryable,
      result: { case: "error", value: await rebuildError(failed, items, proofHash, about.tool) },
    };
  }

  /** An outcome in a record of its own does not name the tool; equal proofs are about the same tool and version. */
  async function toolOf({ message }: DecodedRecord, proofHash: Uint8Array): Promise<string> {
    const named = toolNamedBy(message);
    if (named !== "" || proofHash.length === 0) return named;
    const holdings = await parts.store.findContent(proofHash, message.chain);
    const holding = holdings.find(({ role, place }) => role === ContentRole.PROOF && place === ContentPlace.ROW);
    const stored = holding && (await parts.store.readRecord(holding.recordIndex));
    return stored === undefined ? "" : toolNamedBy(fromBinary(RecordSchema, stored.record));
  }

  /** Undefined if the result was erased. */
  async function rebuildSuccess(
    outcome: Outcome,
    items: readonly ContentItem[],
    proofHash: Uint8Array,
    tool: string,
  ): Promise<ToolSuccess | undefined> {
    const item = items.find((candidate) => candidate.role === ContentRole.RESULT);
    const viewBytes = parts.viewBytesOf(tool);
    const size = Number(outcome.resultSize);
    const isPlain = isJson(outcome.resultType) && size <= MAX_PLAIN_BYTES;
    const head = item && (await readHead(item, isPlain ? size : viewBytes));
    if (item === undefined || head === undefined) return undefined;
    const type = outcome.resultType as ResultType;
    const input = items.find((candidate) => candidate.role === ContentRole.INPUT)?.data ?? NO_BYTES;
    const firstLine = parts.firstLineOf(tool, input);
    const tail = head.length < size ? await readTail(item) : undefined;
    const plain = isPlain ? parts.plainTextOf(tool, head) : undefined;
    const view = createModelView(
      { type, digest: item.digest, size, head, tail },
      { maxBytes: viewBytes, firstLine, parts: plain },
    );
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

  /** Reads all of a result that fits into a message; of a larger one as much as its view needs. */
  async function readHead(item: ContentItem, viewBytes: number): Promise<Uint8Array | undefined> {
    if (item.place === ContentPlace.ROW) return item.data;
    if (item.place !== ContentPlace.FILE) return undefined;
    const size = Number(item.size);
    const wanted = size <= MAX_INLINE_RESULT_BYTES ? size : Math.min(size, viewBytes + CHARACTER_BYTES);
    return await readPart(item, 0, wanted);
  }

  /** Reads as many of the last bytes as were kept when the response was first created. */
  async function readTail(item: ContentItem): Promise<Uint8Array> {
    const size = Number(item.size);
    return await readPart(item, Math.max(0, size - TAIL_BYTES), Math.min(size, TAIL_BYTES));
  }

  async function readPart(item: ContentItem, offset: number, length: number): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    const content = { digest: item.digest, size: Number(item.size) };
    const reading = readFileContent(parts.contentStore, content, offset, length);
    for await (const chunk of reading) chunks.push(copyBytes(chunk));
    return Buffer.concat(chunks);
  }

  async function rebuildError(
    outcome: Outcome,
    items: readonly ContentItem[],
    proofHash: Uint8Array,
    tool: string,
  ): Promise<ToolError> {
    const item = items.find((candidate) => candidate.role === ContentRole.ERROR);
    if (item?.place === ContentPlace.ROW) {
      const view = await rebuildPrinted(items, tool);
      return { ...fromBinary(ToolErrorSchema, item.data), proofHash, view };
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
      view: "",
    });
  }

  /** Rebuilds the view of what the programs of a failed call had printed. */
  async function rebuildPrinted(items: readonly ContentItem[], tool: string): Promise<string> {
    const outputs = items.filter(({ role }) => role === ContentRole.OUTPUT);
    const read = outputs.map(async (item) => {
      const head = await readHead(item, TAIL_BYTES);
      const size = Number(item.size);
      return head && { digest: item.digest, size, head, tail: head.length < size ? await readTail(item) : undefined };
    });
    const printed = (await Promise.all(read)).filter((output) => output !== undefined);
    return printedView(printed, parts.viewBytesOf(tool));
  }

  return async (index) => {
    let record = await readRecord(index);
    const repeated = findEntry(record.message, "callRepeated");
    // A repeat names the record with the outcome, which is never a repeat itself.
    if (repeated !== undefined) record = await readRecord(Number(repeated.firstRecordIndex));
    const request = record.items.find((item) => item.role === ContentRole.REQUEST);
    // The request is erased and cannot be compared any more, so every request with this id gets the response that its
    // content is gone.
    if (request?.place === ContentPlace.ERASED) {
      return { requestDigest: NO_BYTES, response: createLostResponse("erased", record.index) };
    }
    const answer = request && (await rebuild(record));
    return request && answer && { requestDigest: request.digest, response: answer };
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

function isJson(type: string): boolean {
  return type === "json" || type === "object" || type === "array";
}
