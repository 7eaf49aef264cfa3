import { utf8 } from "@narthex/contracts";
import type { LongText, ViewPart } from "./view-part.ts";

export interface ModelView {
  readonly text: string;
  readonly cut: boolean;
}

/** Maximum sizes of the line in a gap, the hint how to read on, and the last line. */
const GAP_BYTES = 64;
const HINT_BYTES = 192;
const LAST_LINE_BYTES = 80;

/**
 * Plain text in at most `maxBytes`, including its notes. Outputs that do not fit lose their middle, because the end of
 * a program's output shows how it went; the last two lines then tell how to read on, and the size of the outputs. If
 * `maxBytes` is hardly more than the notes need, half of it is used for the outputs.
 */
export function headAndTail(parts: readonly ViewPart[], resultHash: string, maxBytes: number): ModelView {
  const pieces = parts.map((part) => (typeof part === "string" ? utf8(part) : new Output(part)));
  const outputs = pieces.filter((piece) => piece instanceof Output);
  const fixed = pieces.reduce((sum, piece) => sum + (piece instanceof Output ? 0 : piece.length), 0);
  const whole = outputs.reduce((sum, { head }) => sum + head.length, fixed);
  if (whole <= maxBytes && outputs.every(({ isWhole }) => isWhole)) {
    return { text: join(pieces.map((piece) => (piece instanceof Output ? piece.whole() : decode(piece)))), cut: false };
  }
  const notes = outputs.length * (GAP_BYTES + HINT_BYTES) + LAST_LINE_BYTES;
  const room = Math.max(maxBytes - fixed - notes, Math.floor((maxBytes - Math.min(fixed, maxBytes)) / 2));
  const shown = showOutputs(outputs, room);
  const text = join(pieces.map((piece) => (piece instanceof Output ? (shown.get(piece)?.text ?? "") : decode(piece))));
  const size = outputs.reduce((sum, output) => sum + output.size, outputs.length === 0 ? fixed : 0);
  return {
    text: withNotes(
      text,
      [...shown.values()].map((cut) => cut.hint(resultHash)),
      size,
    ),
    cut: true,
  };
}

/** Appends the lines that end every view that was cut: how to read on, and the original size. */
export function withNotes(text: string, hints: readonly (string | undefined)[], size: number): string {
  const known = hints.filter((hint) => hint !== undefined);
  const page = known.length === 0 ? [] : [`[read on with ${known.join(", or with ")}]`];
  // SPEC: source C requires exactly this last line.
  return [text.replace(/\n$/, ""), ...page, `[output truncated — original size: ${grouped(size)} bytes]`].join("\n");
}

export function pagingHint(hash: string, offset: number): string {
  return `result_read {"hash":"${hash}","offset":${offset}}`;
}

export function grouped(size: number): string {
  return size.toLocaleString("en-US");
}

/** The longest length up to `length` that does not cut a UTF-8 sequence in two. */
export function cutLength(bytes: Uint8Array, length: number): number {
  if (length >= bytes.length) return bytes.length;
  let at = length;
  // A continuation byte at the cut means that its character starts before the cut.
  while (at > 0 && length - at < 4 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at--;
  return at;
}

/** One output as bytes. */
class Output {
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
  readonly size: number;
  readonly isWhole: boolean;
  readonly #part: LongText;

  constructor(part: LongText) {
    this.#part = part;
    this.head = utf8(part.text);
    this.isWhole = part.tail === undefined;
    this.tail = part.tail === undefined ? this.head : utf8(part.tail);
    this.size = part.size;
  }

  whole(): string {
    return this.#part.text;
  }

  /** The whole output if it fits; otherwise its beginning and its end with a line between them. */
  show(room: number): ShownOutput {
    if (this.isWhole && this.head.length <= room) return { text: this.whole(), hint: () => undefined };
    const tailRoom = Math.min(Math.floor(room / 2), this.tail.length);
    const head = this.head.subarray(0, endOfHead(this.head, Math.min(room - tailRoom, this.head.length)));
    const tail = this.tail.subarray(startOfTail(this.tail, this.tail.length - tailRoom));
    const before = decode(head);
    // If invalid bytes were replaced, an offset that is too low repeats a little; one that is too high would skip
    // content.
    const offset = Math.max(0, head.length - 2 * (before.split("\ufffd").length - 1));
    const left = Math.max(0, this.size - offset - tail.length);
    const gap = `[… ${grouped(left)} bytes left out …]\n`;
    const { hash, name } = this.#part;
    return {
      text: `${before}${before === "" || before.endsWith("\n") ? "" : "\n"}${gap}${decode(tail)}`,
      hint(resultHash) {
        if (hash === undefined) return `${pagingHint(resultHash, 0)} (the whole result, as JSON)`;
        return `${pagingHint(hash, offset)}${name === undefined ? "" : ` (${name})`}`;
      },
    };
  }
}

interface ShownOutput {
  readonly text: string;
  hint(resultHash: string): string | undefined;
}

/** Small outputs are shown whole; the others share the remaining space equally. */
function showOutputs(outputs: readonly Output[], room: number): ReadonlyMap<Output, ShownOutput> {
  const shown = new Map<Output, ShownOutput>(outputs.map((output) => [output, output.show(0)]));
  const bySize = outputs.toSorted((a, b) => a.size - b.size);
  let left = room;
  bySize.forEach((output, index) => {
    const share = Math.floor(left / (bySize.length - index));
    shown.set(output, output.show(share));
    left -= Math.min(share, output.head.length);
  });
  return shown;
}

const LINE_FEED = 0x0a;

/** Length of the beginning: after a line that ends in its last quarter, otherwise between two characters. */
function endOfHead(bytes: Uint8Array, length: number): number {
  if (length >= bytes.length) return bytes.length;
  const line = length === 0 ? 0 : bytes.lastIndexOf(LINE_FEED, length - 1) + 1;
  return line > length - length / 4 ? line : cutLength(bytes, length);
}

function startOfTail(bytes: Uint8Array, start: number): number {
  if (start <= 0) return 0;
  const line = bytes.indexOf(LINE_FEED, start - 1) + 1;
  if (line > 0 && line < start + (bytes.length - start) / 4) return line;
  let at = start;
  while (at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at++;
  return at;
}

/** Joins the pieces so that each starts on a new line. */
function join(texts: readonly string[]): string {
  return texts.reduce((all, text) => {
    if (all === "" || text === "" || all.endsWith("\n")) return all + text;
    return `${all}\n${text}`;
  }, "");
}

const lenientText = new TextDecoder("utf-8", { ignoreBOM: true });

function decode(bytes: Uint8Array): string {
  return lenientText.decode(bytes);
}
