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

/**
 * What a model is shown: at most `maxBytes` of content, cut on a character boundary, and then how to read on. With the
 * number of the first line, lines are numbered, and their numbers count as content.
 */
export function createModelView(result: ViewedResult, maxBytes: number, firstLine?: number): ModelView {
  const { head } = result;
  let shown = head.subarray(0, cutLength(head, Math.min(maxBytes, head.length)));
  let text = decodeText(shown);
  if (text === undefined) return { text: binaryNote(result), cut: false };
  if (firstLine !== undefined) {
    shown = shown.subarray(0, cutLength(head, numberedLength(shown, firstLine, maxBytes)));
    text = numberLines(decodeText(shown) ?? "", firstLine);
  }
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

/** As many of the bytes as leave room for the numbers of their lines. */
function numberedLength(bytes: Uint8Array, firstLine: number, maxBytes: number): number {
  let used = 0;
  let at = 0;
  for (let line = firstLine; at < bytes.length; line++) {
    used += prefixOf(line).length;
    if (used >= maxBytes) break;
    const feed = bytes.indexOf(LINE_FEED, at);
    const end = Math.min(feed === -1 ? bytes.length : feed + 1, at + maxBytes - used);
    used += end - at;
    at = end;
    if (used >= maxBytes) break;
  }
  return at;
}

const LINE_FEED = 0x0a;

function prefixOf(line: number): string {
  return `${String(line).padStart(6)}\t`;
}

function numberLines(text: string, firstLine: number | undefined): string {
  if (firstLine === undefined || text === "") return text;
  const lines = text.split("\n");
  const last = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  return lines.map((line, index) => (index < last ? `${prefixOf(firstLine + index)}${line}` : line)).join("\n");
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
