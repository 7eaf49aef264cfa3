import type { LedgerStore } from "@narthex/kernel";
import type { HomePaths } from "../home/home-paths.ts";
import { openSqliteStore } from "./sqlite-store.ts";

export interface LedgerStoreOptions {
  readonly paths: Pick<HomePaths, "store" | "merkle">;
  /** For short-lived programs: the store starts no threads. */
  readonly isSingleThreaded?: boolean;
}

/** Opens the store that holds a home's ledger. All callers use this function, so the driver is chosen here. */
export async function openLedgerStore({ paths, isSingleThreaded = false }: LedgerStoreOptions): Promise<LedgerStore> {
  return await openSqliteStore({ directory: paths.store, logDirectory: paths.merkle, isSingleThreaded });
}
