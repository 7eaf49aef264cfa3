import type { JsonValue, ToolSuccess } from "@narthex/contracts";
import type { CallConnection } from "../connection/kernel-connection.ts";
import { decodeText } from "./decode-text.ts";
import { readJsonText } from "./json-text.ts";

/** Where the result of a call was put. */
export type CallResultPlace =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "file"; readonly path: string }
  /** In the content store: too large to print, and readable by its hash. */
  | { readonly kind: "store" };

export interface ResultOptions {
  readonly token: string;
  /** File to write the result to; without it the bytes are returned. */
  readonly out: string | undefined;
}

/** Larger results are not printed. */
const MAX_PRINTED_RESULT_BYTES = 64 * 1024 * 1024;

/** Fetches the whole result: from the response, or from the content store if it was too large for the response. */
export async function fetchResult(
  success: ToolSuccess,
  kernel: CallConnection,
  options: ResultOptions,
): Promise<CallResultPlace> {
  const { resultHash: hash, inlineResult, resultSize } = success;
  const isInline = inlineResult.length > 0 || resultSize === 0n;
  if (options.out === undefined) {
    if (isInline) return { kind: "bytes", bytes: inlineResult };
    if (resultSize > BigInt(MAX_PRINTED_RESULT_BYTES)) return { kind: "store" };
  }
  // This module loads the hash function, which is not needed for a result that came whole in its response.
  const { checkHash, collect, saveContent } = await import("./content-output.ts");
  const chunks = isInline ? inlineChunks(inlineResult) : await openResult(hash, kernel, options.token);
  if (options.out !== undefined) return { kind: "file", path: (await saveContent(chunks, options.out, hash)).path };
  return { kind: "bytes", bytes: await collect(checkHash(chunks, hash), MAX_PRINTED_RESULT_BYTES) };
}

/**
 * Converts a result to JSON: the JSON value itself, a string's text, or for bytes their text if they are UTF-8 and
 * base64 otherwise.
 */
export function resultToJson(resultType: string, bytes: Uint8Array): JsonValue {
  const text = decodeText(bytes);
  if (text === undefined) return { base64: Buffer.from(bytes).toString("base64") };
  return isJsonResult(resultType) ? readJsonText(text) : text;
}

export function isJsonResult(resultType: string): boolean {
  return resultType === "json" || resultType === "object" || resultType === "array";
}

async function openResult(hash: Uint8Array, kernel: CallConnection, token: string): Promise<AsyncIterable<Uint8Array>> {
  return (await kernel.getContent({ token, hash, offset: 0, limit: 0 })).chunks;
}

async function* inlineChunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
