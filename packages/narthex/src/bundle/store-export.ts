import { KernelError } from "@narthex/contracts";
import { readBundledTree } from "@narthex/host";
import { type ContentStore, createStoreBundleSource, type Store, writeBundle } from "@narthex/kernel";
import type { ExportLedger } from "@narthex/server";

/** Writes bundles of the records in an open store. */
export function createStoreExport(store: Store, contentStore: ContentStore, merkleDirectory: string): ExportLedger {
  return async function* (sessionId, signal) {
    if (sessionId !== "" && (await store.chainHead(sessionId)) === undefined) {
      throw new KernelError("SESSION_UNKNOWN", "no session has this id; see `narthex session list --all`");
    }
    const log = await readBundledTree(merkleDirectory);
    for await (const bytes of writeBundle(createStoreBundleSource(store, contentStore, sessionId, log))) {
      signal.throwIfAborted();
      yield bytes;
    }
  };
}
