import { toHex } from "@narthex/contracts";
import type { ResultType } from "../tool/tool.ts";
import { cutLength, grouped, headAndTail, type ModelView, pagingHint, withNotes } from "./head-and-tail.ts";
import { detectMediaType } from "./media-type.ts";
import type { ViewPart } from "./view-part.ts";

export interface ViewedResult {
  readonly type: ResultType;
  readonly digest: Uint8Array;
  readonly size: number;
  /** The whole result, or at least as much as a view may show. */
  readonly head: Uint8Array;
  /** The end of the result if `head` is only its beginning; may be shorter than a view can show. */
  readonly tail?: Uint8Array | undefined;
}

export interface ViewOptions {
  readonly maxBytes: number;
  /** If set, lines are numbered starting with this; the numbers count toward `maxBytes`. */
  readonly firstLine?: number | undefined;
  /** The result as plain text, provided by its tool. */
  readonly parts?: readonly ViewPart[] | undefined;
}

/**
 * Creates the text shown to a model, at most `maxBytes`: the beginning and end of a text, then how to read on. Numbered
 * lines are shown from the first one on, without a gap.
 */
export function createModelView(result: ViewedResult, { maxBytes, firstLine, parts }: ViewOptions): ModelView {
  const hash = toHex(result.digest);
  if (parts !== undefined) return headAndTail(parts, hash, maxBytes);
  const media = firstLine === undefined ? detectMediaType(result.head, result.tail ?? result.head) : undefined;
  if (media !== undefined) return { text: `[${grouped(result.size)} bytes of ${media}; hash ${hash}]`, cut: false };
  if (firstLine !== undefined) return numberedView(result, hash, maxBytes, firstLine);
  if (result.size <= maxBytes && result.head.length === result.size) {
    return { text: decodeText(result.head) ?? binaryNote(result, hash), cut: false };
  }
  const text = decodeText(result.head.subarray(0, cutLength(result.head, maxBytes)));
  if (text === undefined) return { text: binaryNote(result, hash), cut: false };
  return headAndTail([{ text, tail: endOf(result, maxBytes), size: result.size, hash }], hash, maxBytes);
}

/** As much of the end as a view can show; empty if the end is not available. */
function endOf({ head, tail, size }: ViewedResult, maxBytes: number): string {
  const end = (tail ?? (head.length === size ? head : NO_BYTES)).subarray(-maxBytes);
  return lenientText.decode(end.subarray(firstCharacter(end)));
}

const NO_BYTES = new Uint8Array(0);

function numberedView(result: ViewedResult, hash: string, maxBytes: number, firstLine: number): ModelView {
  const { head, size } = result;
  const all = numberedLength(head, firstLine, maxBytes);
  const isWhole = all === size;
  const room = Math.max(maxBytes - NOTES_BYTES, Math.floor(maxBytes / 2));
  const shown = head.subarray(0, isWhole ? all : cutLength(head, numberedLength(head, firstLine, room)));
  const text = decodeText(shown);
  if (text === undefined) return { text: binaryNote(result, hash), cut: false };
  const numbered = numberLines(text, firstLine);
  if (isWhole) return { text: numbered, cut: false };
  return { text: withNotes(numbered, [pagingHint(hash, shown.length)], size), cut: true };
}

/** Space reserved for the last two lines of a view that was cut. */
const NOTES_BYTES = 256;

/** Number of bytes that fit together with the numbers of their lines. */
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

function numberLines(text: string, firstLine: number): string {
  if (text === "") return text;
  const lines = text.split("\n");
  const last = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  return lines.map((line, index) => (index < last ? `${prefixOf(firstLine + index)}${line}` : line)).join("\n");
}

const strictText = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenientText = new TextDecoder("utf-8", { ignoreBOM: true });

function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return strictText.decode(bytes);
  } catch {
    return undefined;
  }
}

function firstCharacter(bytes: Uint8Array): number {
  let at = 0;
  while (at < 4 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at++;
  return at;
}

function binaryNote({ size }: ViewedResult, hash: string): string {
  return `[${grouped(size)} bytes that are not text; hash ${hash}]`;
}
