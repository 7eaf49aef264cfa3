import { createContentUses } from "../erasure/content-uses.ts";
import type { ContentStore, Store, StoredRecord } from "../ports.ts";
import { createContentLibrary } from "../result/content-library.ts";
import { createHeldContent } from "../result/held-content.ts";
import type { ReplaySource } from "./replay-source.ts";

const PAGE = 256;

/** Reads sessions from an open store. */
export function createStoreReplaySource(store: Store, contentStore: ContentStore): ReplaySource {
  const library = createContentLibrary({
    store,
    files: contentStore,
    held: createHeldContent(),
    uses: createContentUses(),
    isDescendant: () => Promise.resolve(false),
  });
  return {
    omitsContent: false,
    async *records(chain) {
      let reading: Promise<StoredRecord[]> | undefined = readPage(store, chain, 0);
      while (reading !== undefined) {
        const page: StoredRecord[] = await reading;
        const last = page.at(-1);
        // The store reads the next page while the current one is processed.
        reading = last === undefined || page.length < PAGE ? undefined : readPage(store, chain, last.index + 1);
        yield* page;
      }
    },
    async findContent(digest) {
      const found = await library.findAny(digest);
      if (found === undefined) return undefined;
      const { content } = found;
      return { size: content.size, stream: (offset, limit) => library.stream(content, offset, limit) };
    },
  };
}

function readPage(store: Store, chain: string, from: number): Promise<StoredRecord[]> {
  const reading = store.readRecords({ chain, from, limit: PAGE });
  // Avoids an unhandled rejection if the reader has stopped before this read fails.
  reading.catch(() => undefined);
  return reading;
}
