import { rm } from "node:fs/promises";
import { join } from "node:path";
import { KernelError, toHex } from "@narthex/contracts";
import { type HomePaths, openContentFiles, openLedgerStore } from "@narthex/host";
import { verifyLedger } from "@narthex/verify";
import { createStoreLedgerSource } from "./ledger-source.ts";

/** Verifies a copy of a home with the independent reader alone. Throws BACKUP_INVALID with the first problem. */
export async function verifyCopy(
  paths: HomePaths,
  isBrief: boolean,
): Promise<{ readonly records: number; readonly headHash: string }> {
  const store = await openLedgerStore({ paths, isSingleThreaded: isBrief });
  try {
    const report = await verifyLedger(
      createStoreLedgerSource(store, await openContentFiles(paths.content), paths.merkle),
    );
    const [first] = report.problems;
    if (first !== undefined) {
      const message = `the copy is not sound: record ${first.recordIndex}: ${first.code}: ${first.message}`;
      throw new KernelError("BACKUP_INVALID", message);
    }
    return { records: report.records, headHash: toHex(report.headHash) };
  } finally {
    await store.close();
    // Opening the copy creates a new index.
    for (const name of ["index.db", "index.db-wal", "index.db-shm"]) await rm(join(paths.store, name), { force: true });
  }
}
