import assert from "node:assert/strict";
import { type VerifyReport, verifyLedger } from "@narthex/verify";
import type { ContentStore, Store } from "../ports.ts";

/** Fails unless the independent verifier accepts every record, the order and every commitment. */
export async function verifyStore(store: Store, contentStore?: ContentStore): Promise<VerifyReport> {
  const report = await verifyLedger({
    async *records() {
      yield* await store.readRecords({ limit: 1_000_000 });
    },
    async readFile(digest) {
      const found = await contentStore?.stat(digest);
      return found && contentStore?.read(digest, 0, found.size);
    },
  });
  assert.deepEqual(report.problems, []);
  assert.ok(report.intact && report.complete);
  return report;
}
