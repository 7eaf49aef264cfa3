import type { ContentStore, Store } from "../ports.ts";
import { copyBytes } from "../result/copy-bytes.ts";
import type { ViewPart } from "../result/view-part.ts";
import type { CallResponse, ResponseResult } from "./call-response.ts";
import { createResponseReader } from "./read-response.ts";

/** What is known of an earlier request that started a call. */
export interface ArchivedCall {
  readonly requestDigest: Uint8Array;
  readonly response: CallResponse;
}

/** Responses to earlier requests by request id: recent ones from memory, all others from the ledger. */
export interface ResponseArchive {
  find(sessionId: string, requestId: string): Promise<ArchivedCall | undefined>;
  remember(sessionId: string, requestId: string, call: ArchivedCall): void;
  forget(sessionId: string, requestId: string): void;
  /** Drops all responses from memory: erased content must not be returned. */
  clear(): void;
}

export interface ResponseArchiveParts {
  readonly store: Store;
  readonly contentStore: ContentStore;
  /** Maximum size of the view of a tool's results, by the tool's id. */
  viewBytesOf(toolId: string): number;
  /** Number of the first line for a tool with numbered lines, by the tool's id and its canonical input. */
  firstLineOf(toolId: string, input: Uint8Array): number | undefined;
  /** The result as plain text for a tool that shows its JSON results that way, by the tool's id and the result. */
  plainTextOf(toolId: string, result: Uint8Array): readonly ViewPart[] | undefined;
}

/** At least this many of the latest responses are remembered, and at most twice as many. */
const MIN_REMEMBERED = 512;
const MAX_REMEMBERED_BYTES = 16 * 1024;

export function createResponseArchive(parts: ResponseArchiveParts): ResponseArchive {
  const readAnswer = createResponseReader(parts);
  // Two generations; the older one is dropped as a whole, because removing the oldest entries one by one costs several
  // times as much.
  let recent = new Map<string, ArchivedCall>();
  let older = recent;

  function forget(key: string): void {
    recent.delete(key);
    older.delete(key);
  }

  return {
    async find(sessionId, requestId) {
      const key = keyOf(sessionId, requestId);
      const remembered = recent.get(key) ?? older.get(key);
      if (remembered !== undefined) return remembered;
      const index = await parts.store.findRequest(sessionId, requestId);
      return index === undefined ? undefined : readAnswer(index);
    },
    remember(sessionId, requestId, { requestDigest, response }) {
      const key = keyOf(sessionId, requestId);
      if (sizeOf(response.result) > MAX_REMEMBERED_BYTES) {
        forget(key);
        return;
      }
      if (recent.size >= MIN_REMEMBERED) {
        older = recent;
        recent = new Map();
      }
      const result = copyOf(response.result);
      recent.set(key, {
        requestDigest,
        response: { ...response, result, raw: undefined, proof: undefined, normalised: undefined },
      });
    },
    forget: (sessionId, requestId) => forget(keyOf(sessionId, requestId)),
    clear() {
      recent = new Map();
      older = recent;
    },
  };
}

function keyOf(sessionId: string, requestId: string): string {
  return `${sessionId}/${requestId}`;
}

/** Approximate size: counts only the parts that a tool can make large. */
function sizeOf(result: ResponseResult): number {
  if (result.case === "success") return result.value.inlineResult.length + result.value.view.length;
  if (result.case === "denied") return result.value.message.length;
  const { message, violations } = result.value;
  return violations.reduce((size, { field, message: text }) => size + field.length + text.length, message.length);
}

/** Returns a copy, because the caller owns the result and may change it. */
function copyOf(result: ResponseResult): ResponseResult {
  if (result.case !== "success") return result;
  const { value } = result;
  return { case: "success", value: { ...value, inlineResult: copyBytes(value.inlineResult) } };
}
