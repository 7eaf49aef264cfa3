import type { ContentStore, Store } from "../ports.ts";
import { copyBytes } from "../result/copy-bytes.ts";
import type { CallAnswer, ResponseResult } from "./call-answer.ts";
import { createAnswerReader } from "./read-answer.ts";

/** What is known of an earlier request that started something. */
export interface ArchivedCall {
  readonly requestDigest: Uint8Array;
  readonly answer: CallAnswer;
}

/** Earlier answers by request id: the recent ones from memory, all others from the ledger. */
export interface AnswerArchive {
  find(sessionId: string, requestId: string): Promise<ArchivedCall | undefined>;
  remember(sessionId: string, requestId: string, call: ArchivedCall): void;
  forget(sessionId: string, requestId: string): void;
}

export interface AnswerArchiveParts {
  readonly store: Store;
  readonly contentStore: ContentStore;
  /** How much of a tool's result its view shows, by the tool's id. */
  viewBytesOf(toolId: string): number;
}

const MAX_REMEMBERED = 2048;
const MAX_REMEMBERED_BYTES = 16 * 1024;

export function createAnswerArchive(parts: AnswerArchiveParts): AnswerArchive {
  const recent = new Map<string, ArchivedCall>();
  const readAnswer = createAnswerReader(parts);
  return {
    async find(sessionId, requestId) {
      const remembered = recent.get(keyOf(sessionId, requestId));
      if (remembered !== undefined) return remembered;
      const index = await parts.store.findRequest(sessionId, requestId);
      return index === undefined ? undefined : readAnswer(index);
    },
    remember(sessionId, requestId, { requestDigest, answer }) {
      const key = keyOf(sessionId, requestId);
      recent.delete(key);
      if (sizeOf(answer.result) > MAX_REMEMBERED_BYTES) return;
      const result = copyOf(answer.result);
      recent.set(key, {
        requestDigest,
        answer: { ...answer, result, raw: undefined, proof: undefined, normalised: undefined },
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

/** About; what is counted is what a tool can make large. */
function sizeOf(result: ResponseResult): number {
  if (result.case === "success") return result.value.inlineResult.length + result.value.view.length;
  if (result.case === "denied") return result.value.message.length;
  const { message, violations } = result.value;
  return violations.reduce((size, { field, message: text }) => size + field.length + text.length, message.length);
}

/** The caller owns what it was given, and may change it. */
function copyOf(result: ResponseResult): ResponseResult {
  if (result.case !== "success") return result;
  const { value } = result;
  return { case: "success", value: { ...value, inlineResult: copyBytes(value.inlineResult) } };
}
