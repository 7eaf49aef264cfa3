import type { ContentStore, Store, StoredRecord } from "@narthex/kernel";
import { type LedgerFile, type LedgerSource, readHashedPages } from "@narthex/verify";
import { homeLogFiles } from "./log-files.ts";

const PAGE = 512;
/** For fewer, to start a thread takes longer than it saves. */
const THREAD_FROM_RECORDS = 20_000;

interface HomeFiles {
  readonly contentStore: ContentStore;
  readonly logDirectory: string;
}

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
export function fileLedgerSource(
  file: LedgerFile,
  path: string,
  { contentStore, logDirectory }: HomeFiles,
): LedgerSource {
  return {
    recordCount: async () => file.recordCount(),
    ...(file.recordCount() >= THREAD_FROM_RECORDS && { hashedPages: () => readHashedPages(path) }),
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
