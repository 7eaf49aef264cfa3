import { blake3, toHex } from "@narthex/contracts";
import { type ReplayContent, ServedFromRecord } from "@narthex/kernel";

/** A part of a file that was read, and how to open its bytes. */
export interface RecordedPart {
  readonly offset: number;
  readonly size: number;
  readonly open: () => Promise<ReplayContent | undefined>;
}

/** Content of a recorded file: complete, or only the parts that were read. */
export interface VirtualContent {
  readonly size: number;
  /** Lower-case hex; empty if only parts are known. */
  readonly hash: string;
  read(offset: number, length: number): AsyncIterable<Uint8Array>;
}

export function bytesContent(bytes: Uint8Array): VirtualContent {
  return {
    size: bytes.length,
    hash: toHex(blake3(bytes)),
    async *read(offset, length) {
      if (length > 0) yield bytes.subarray(offset, offset + length);
      await Promise.resolve();
    },
  };
}

export function wholeContent(
  { hash, size }: { readonly hash: string; readonly size: number },
  open: () => Promise<ReplayContent | undefined>,
): VirtualContent {
  return partsContent(size, hash, [{ offset: 0, size, open }]);
}

/**
 * Creates content from parts. Bytes outside the parts, or not stored, are not invented: reading them throws, and the
 * call is served from its record.
 */
export function partsContent(size: number, hash: string, parts: readonly RecordedPart[]): VirtualContent {
  return {
    size,
    hash,
    async *read(offset, length) {
      if (length === 0) return;
      // If the recorded tool stopped reading early, the part contains only the bytes that it received.
      const part = parts.find((known) => known.offset <= offset && offset < known.offset + known.size);
      const content = part && (await part.open());
      if (part === undefined || content === undefined) throw new ServedFromRecord("not_kept");
      const skipped = offset - part.offset;
      const known = Math.min(length, part.size - skipped);
      yield* content.stream(skipped, known);
      // The tool reads further than the recorded one did.
      if (known < length) throw new ServedFromRecord("not_kept");
    },
  };
}
