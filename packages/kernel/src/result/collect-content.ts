import { blake3, ContentPlace, MAX_INLINE_RESULT_BYTES, MAX_ROW_CONTENT_BYTES } from "@narthex/contracts";
import type { ContentStore, ContentWriter } from "../ports.ts";
import type { CollectedContent, ContentCollector } from "./content-collector.ts";

/** Small content stays in memory for its record's row; the rest goes to the content store as it comes. */
export function collectContent(store: ContentStore, charge: (bytes: number) => void): ContentCollector {
  const kept: Uint8Array[] = [];
  let keptBytes = 0;
  let size = 0;
  let writer: ContentWriter | undefined;

  return {
    async write(chunk) {
      charge(chunk.length);
      size += chunk.length;
      if (keptBytes < MAX_INLINE_RESULT_BYTES) {
        const copy = chunk.slice(0, MAX_INLINE_RESULT_BYTES - keptBytes);
        kept.push(copy);
        keptBytes += copy.length;
      }
      if (writer !== undefined) {
        await writer.write(chunk);
      } else if (size > MAX_ROW_CONTENT_BYTES) {
        writer = await store.openWriter();
        // What was kept before this chunk is all there was before it.
        for (const earlier of kept.slice(0, -1)) await writer.write(earlier);
        await writer.write(chunk);
      }
    },
    async finish(): Promise<CollectedContent> {
      const head = concatenate(kept, keptBytes);
      if (writer === undefined) return { digest: blake3(head), size, place: ContentPlace.ROW, head };
      const committed = await writer.commit();
      return { ...committed, place: ContentPlace.FILE, head };
    },
    async abort() {
      await writer?.abort();
    },
  };
}

function concatenate(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const only = chunks[0];
  if (chunks.length === 1 && only !== undefined) return only;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
