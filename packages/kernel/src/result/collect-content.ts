import { blake3, ContentPlace, MAX_INLINE_RESULT_BYTES, MAX_ROW_CONTENT_BYTES } from "@narthex/contracts";
import type { ContentStore, ContentWriter } from "../ports.ts";
import type { CollectedContent, ContentCollector } from "./content-collector.ts";
import { copyBytes } from "./copy-bytes.ts";

const FIRST_BYTES = 1024;

/** Small content stays in memory for its record's row; the rest goes to the content store as it comes. */
export function collectContent(store: ContentStore, charge: (bytes: number) => void): ContentCollector {
  let kept = NO_BYTES;
  let keptBytes = 0;
  let size = 0;
  let writer: ContentWriter | undefined;

  function head(): Uint8Array {
    return kept.subarray(0, keptBytes);
  }

  /** One array that grows: many small chunks cost no more than one large one. */
  function keepHead(chunk: Uint8Array): void {
    const part = chunk.subarray(0, MAX_INLINE_RESULT_BYTES - keptBytes);
    const needed = keptBytes + part.length;
    if (needed > kept.length) {
      const grown = new Uint8Array(Math.min(MAX_INLINE_RESULT_BYTES, Math.max(needed, kept.length * 2, FIRST_BYTES)));
      grown.set(head());
      kept = grown;
    }
    kept.set(part, keptBytes);
    keptBytes = needed;
  }

  return {
    get size() {
      return size;
    },
    async write(chunk) {
      charge(chunk.length);
      const before = head();
      size += chunk.length;
      if (keptBytes < MAX_INLINE_RESULT_BYTES) keepHead(chunk);
      if (size <= MAX_ROW_CONTENT_BYTES) return;
      // Whoever gave the chunk may write over it while the disk is slow.
      const own = copyBytes(chunk);
      if (writer === undefined) {
        writer = await store.openWriter();
        // INVARIANT: whatever fitted the row is all there was before this chunk.
        if (before.length > 0) await writer.write(before);
      }
      await writer.write(own);
    },
    head,
    async finish(): Promise<CollectedContent> {
      const all = copyBytes(head());
      if (writer === undefined) return { digest: blake3(all), size, place: ContentPlace.ROW, head: all };
      const committed = await writer.commit();
      return { ...committed, place: ContentPlace.FILE, head: all };
    },
    async abort() {
      await writer?.abort();
    },
  };
}

const NO_BYTES: Uint8Array = new Uint8Array(0);
