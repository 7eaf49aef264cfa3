import type { ContentStore, Store } from "../ports.ts";
import { createStoreReplaySource } from "../replay/store-replay-source.ts";
import type { ReplayRow } from "../replay/replay-source.ts";
import type { BundledTree } from "./bundled-tree.ts";
import type { BundleSource } from "./write-bundle.ts";

const PAGE = 256;

/** Creates a source of the records in an open store, of one session or of all. */
export function createStoreBundleSource(
  store: Store,
  contentStore: ContentStore,
  chain: string,
  log: BundledTree | undefined,
): BundleSource {
  const { findContent } = createStoreReplaySource(store, contentStore);
  return { chain, tree: log, findContent, rows: () => readRows(store, chain) };
}

/** Yields the records that exist when it begins; a running kernel may append more meanwhile. */
async function* readRows(store: Store, chain: string): AsyncGenerator<ReplayRow> {
  const { nextIndex } = await store.head();
  const only = chain === "" ? {} : { chain };
  for (let from = 0; from < nextIndex; ) {
    const page = await store.readRecords({ ...only, from, limit: PAGE });
    for (const row of page) if (row.index < nextIndex) yield row;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    from = last.index + 1;
  }
}
