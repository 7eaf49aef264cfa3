import type { LedgerFile } from "@narthex/host";
import type { ContentStore, Store, StoredRecord } from "@narthex/kernel";
import type { LedgerSource } from "@narthex/verify";
import { homeLogFiles } from "./log-files.ts";

const PAGE = 512;

/**
 * The ledger of an open store, as the verifier reads it: in pages, from the first record on. While one page is looked
 * at, the store's own thread reads the next.
 */
export function storeLedgerSource(store: Store, contentStore: ContentStore, logDirectory: string): LedgerSource {
  return {
    recordCount: async () => (await store.head()).nextIndex,
    ...rowsOf(() => readPages(store)),
    ...filesOf(contentStore, logDirectory),
  };
}

/** The ledger of a home that nobody holds open, read where this is called. */
export function fileLedgerSource(file: LedgerFile, contentStore: ContentStore, logDirectory: string): LedgerSource {
  return {
    recordCount: async () => file.recordCount(),
    ...rowsOf(async function* () {
      yield* file.pages();
    }),
    ...filesOf(contentStore, logDirectory),
  };
}

function rowsOf(pages: () => AsyncIterable<readonly StoredRecord[]>): Pick<LedgerSource, "records" | "pages"> {
  return {
    async *records() {
      for await (const page of pages()) yield* page;
    },
    pages,
  };
}

function filesOf(contentStore: ContentStore, logDirectory: string): Pick<LedgerSource, "readFile" | "log"> {
  return {
    async readFile(digest) {
      const facts = await contentStore.stat(digest);
      return facts && contentStore.read(digest, 0, facts.size);
    },
    log: homeLogFiles(logDirectory),
  };
}

async function* readPages(store: Store): AsyncGenerator<readonly StoredRecord[]> {
  let reading: Promise<StoredRecord[]> | undefined = readPage(store, 0);
  while (reading !== undefined) {
    const page: StoredRecord[] = await reading;
    const last = page.at(-1);
    reading = last === undefined || page.length < PAGE ? undefined : readPage(store, last.index + 1);
    yield page;
  }
}

function readPage(store: Store, from: number): Promise<StoredRecord[]> {
  const reading = store.readRecords({ from, limit: PAGE });
  // Nobody may be waiting for it any more when it fails.
  reading.catch(() => undefined);
  return reading;
}
