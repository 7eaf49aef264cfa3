import { toHex } from "@narthex/contracts";
import type { ResultType } from "../tool/tool.ts";

export interface ModelView {
  readonly text: string;
  readonly cut: boolean;
}

export interface ViewedResult {
  readonly type: ResultType;
  readonly digest: Uint8Array;
  readonly size: number;
  /** All of it, or at least as much as a view may show. */
  readonly head: Uint8Array;
}

/** What a model is shown: at most `maxBytes` of content, cut on a character boundary, and then how to read on. */
export function createModelView(result: ViewedResult, maxBytes: number): ModelView {
  const shown = result.head.subarray(0, cutLength(result.head, Math.min(maxBytes, result.head.length)));
  const text = decodeText(shown);
  if (text === undefined) return { text: binaryNote(result), cut: false };
  if (shown.length === result.size) return { text, cut: false };
  const hash = toHex(result.digest);
  const page = `[the whole result is ${hash}; read on with result_read {"hash":"${hash}","offset":${shown.length}}]`;
  return { text: `${text}\n${page}\n[output truncated — original size: ${grouped(result.size)} bytes]`, cut: true };
}

/** The longest length up to `length` that does not cut a UTF-8 sequence in two. */
function cutLength(bytes: Uint8Array, length: number): number {
  if (length >= bytes.length) return bytes.length;
  let at = length;
  // A continuation byte at the cut means that its character began before it.
  while (at > 0 && length - at < 4 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at--;
  return at;
}

const strictText = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return strictText.decode(bytes);
  } catch {
    return undefined;
  }
}

function binaryNote(result: ViewedResult): string {
  return `[${grouped(result.size)} bytes that are not text; hash ${toHex(result.digest)}]`;
}

function grouped(size: number): string {
  return size.toLocaleString("en-US");
}
