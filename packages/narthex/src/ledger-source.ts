import type { ContentStore, Store, StoredRecord } from "@narthex/kernel";
import { type LedgerFile, type LedgerSource, readHashedPages } from "@narthex/verify";
import { createHomeMerkleFiles } from "./home-merkle-files.ts";

const PAGE = 512;
/** For fewer records, starting a thread takes longer than it saves. */
const THREAD_FROM_RECORDS = 20_000;

interface HomeFiles {
  readonly contentStore: ContentStore;
  readonly logDirectory: string;
}

/**
 * Reads the ledger of an open store for the verifier: in pages, from the first record on. The store's own thread reads
 * the next page while one is verified.
 */
export function createStoreLedgerSource(store: Store, contentStore: ContentStore, logDirectory: string): LedgerSource {
  return {
    recordCount: async () => (await store.head()).nextIndex,
    ...toRecordReaders((from) => readPages(store, from)),
    ...toFileReaders(contentStore, logDirectory),
  };
}

/** Reads the ledger of a home that no process holds open, in the calling thread. */
export function createFileLedgerSource(
  file: LedgerFile,
  path: string,
  { contentStore, logDirectory }: HomeFiles,
): LedgerSource {
  return {
    recordCount: async () => file.recordCount(),
    ...(file.recordCount() >= THREAD_FROM_RECORDS && { hashedPages: (from) => readHashedPages(path, from) }),
    ...toRecordReaders(async function* (from, leave) {
      yield* file.pages(from, leave);
    }),
    ...toFileReaders(contentStore, logDirectory),
  };
}

type Pages = NonNullable<LedgerSource["pages"]>;

function toRecordReaders(pages: Pages): Pick<LedgerSource, "records" | "pages"> {
  return {
    async *records(from) {
      for await (const page of pages(from)) yield* page;
    },
    pages,
  };
}

function toFileReaders(contentStore: ContentStore, logDirectory: string): Pick<LedgerSource, "readFile" | "log"> {
  return {
    async readFile(digest) {
      const facts = await contentStore.stat(digest);
      return facts && contentStore.read(digest, 0, facts.size);
    },
    log: createHomeMerkleFiles(logDirectory),
  };
}

async function* readPages(store: Store, from = 0): AsyncGenerator<readonly StoredRecord[]> {
  let reading: Promise<StoredRecord[]> | undefined = readPage(store, from);
  while (reading !== undefined) {
    const page: StoredRecord[] = await reading;
    const last = page.at(-1);
    reading = last === undefined || page.length < PAGE ? undefined : readPage(store, last.index + 1);
    yield page;
  }
}

function readPage(store: Store, from: number): Promise<StoredRecord[]> {
  const reading = store.readRecords({ from, limit: PAGE });
  // Prevents an unhandled rejection if the read fails after the consumer has stopped.
  reading.catch(() => undefined);
  return reading;
}
