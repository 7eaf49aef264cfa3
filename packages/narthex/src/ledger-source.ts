import type { ContentStore, Store } from "@narthex/kernel";
import type { LedgerSource } from "@narthex/verify";

const PAGE = 512;

/** The ledger of an open store, as the verifier reads it: in pages, from the first record on. */
export function storeLedgerSource(store: Store, contentStore: ContentStore): LedgerSource {
  return {
    recordCount: async () => (await store.head()).nextIndex,
    async *records() {
      for (let from = 0; ; ) {
        const page = await store.readRecords({ from, limit: PAGE });
        yield* page;
        const last = page.at(-1);
        if (last === undefined || page.length < PAGE) return;
        from = last.index + 1;
      }
    },
    async readFile(digest) {
      const facts = await contentStore.stat(digest);
      return facts && contentStore.read(digest, 0, facts.size);
    },
  };
}
