import type { ContentStore, Store } from "../ports.ts";
import { createContentLibrary } from "../result/content-library.ts";
import type { ReplaySource } from "./replay-source.ts";

const PAGE = 256;

/** The sessions of an open store. */
export function createStoreReplaySource(store: Store, contentStore: ContentStore): ReplaySource {
  const library = createContentLibrary(store, contentStore, () => Promise.resolve(false));
  return {
    leavesOut: false,
    async *records(chain) {
      for (let from = 0; ; ) {
        const page = await store.readRecords({ chain, from, limit: PAGE });
        yield* page;
        const last = page.at(-1);
        if (last === undefined || page.length < PAGE) return;
        from = last.index + 1;
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
