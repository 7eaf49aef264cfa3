import { blake3, toHex } from "@narthex/contracts";
import { type ReplayContent, ServedFromRecord } from "@narthex/kernel";

/** A part of a file that was read, and where its bytes are. */
export interface RecordedPart {
  readonly offset: number;
  readonly size: number;
  readonly open: () => Promise<ReplayContent | undefined>;
}

/** What is in a file of the record: all of it, or only the parts that were read. */
export interface VirtualContent {
  readonly size: number;
  /** Lower-case hex; empty where only parts are known. */
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

/** What lies outside of the parts, or was not kept, is not made up: the call is served from its record. */
export function partsContent(size: number, hash: string, parts: readonly RecordedPart[]): VirtualContent {
  return {
    size,
    hash,
    async *read(offset, length) {
      if (length === 0) return;
      // A tool that stopped reading before the end was given no more than it took.
      const part = parts.find((known) => known.offset <= offset && offset < known.offset + known.size);
      const content = part && (await part.open());
      if (part === undefined || content === undefined) throw new ServedFromRecord("not_kept");
      const skipped = offset - part.offset;
      const known = Math.min(length, part.size - skipped);
      yield* content.stream(skipped, known);
      // Whoever reads on asks for what was never read.
      if (known < length) throw new ServedFromRecord("not_kept");
    },
  };
}
