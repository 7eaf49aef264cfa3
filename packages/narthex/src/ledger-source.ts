import type { ContentStore, Store, StoredRecord } from "@narthex/kernel";
import type { LedgerSource } from "@narthex/verify";

const PAGE = 512;

/**
 * The ledger of an open store, as the verifier reads it: in pages, from the first record on. While one page is looked
 * at, the store's own thread reads the next.
 */
export function storeLedgerSource(store: Store, contentStore: ContentStore): LedgerSource {
  return {
    recordCount: async () => (await store.head()).nextIndex,
    async *records() {
      let reading: Promise<StoredRecord[]> | undefined = readPage(store, 0);
      while (reading !== undefined) {
        const page: StoredRecord[] = await reading;
        const last = page.at(-1);
        reading = last === undefined || page.length < PAGE ? undefined : readPage(store, last.index + 1);
        yield* page;
      }
    },
    async readFile(digest) {
      const facts = await contentStore.stat(digest);
      return facts && contentStore.read(digest, 0, facts.size);
    },
  };
}

function readPage(store: Store, from: number): Promise<StoredRecord[]> {
  const reading = store.readRecords({ from, limit: PAGE });
  // Nobody may be waiting for it any more when it fails.
  reading.catch(() => undefined);
  return reading;
}
