import { join } from "node:path";
import { openLedgerFile, readHashedPages, verifyLedger } from "@narthex/verify";
import { callMany } from "../../harness/call-many.ts";
import type { Measurement } from "../../harness/measurement.ts";
import { openEmbedded } from "../../harness/open-embedded.ts";
import { ratioOf } from "../../harness/statistics.ts";

const CALLS = 100_000;
const IN_FLIGHT = 256;
const CHAIN_ONLY = 100_000;
const WITH_LOG = 80_000;
const THREADS_RATIO = 1.6;

/** How fast the independent reader reads a ledger of real calls with their content, in one thread and in two. */
export const verifyRates: Measurement = async ({ rounds, scale, directory }) => {
  const embedded = await openEmbedded(directory);
  await callMany(Math.round(CALLS * scale), IN_FLIGHT, (n) => embedded.call(n));
  await embedded.kernel.signCheckpoint();
  await embedded.close();
  const path = join(embedded.kernel.home.paths.store, "records.db");

  const chains: number[] = [];
  const log: number[] = [];
  const whole: number[] = [];
  const threads: number[] = [];
  for (let round = 0; round < rounds; round++) {
    chains.push(await rateOf({ chainsOnly: true, recordsOnly: true }));
    log.push(await rateOf({ recordsOnly: true }));
    whole.push(await rateOf({}));
    threads.push(await rateOf({ inTwo: true }));
  }
  return {
    rows: [
      {
        what: "verify, records and chains only",
        ours: { value: Math.max(...chains), unit: "records/s" },
        bar: { of: "ours", limit: "at least", value: CHAIN_ONLY },
      },
      {
        what: "verify, records, chains and the Merkle log",
        ours: { value: Math.max(...log), unit: "records/s" },
        bar: { of: "ours", limit: "at least", value: WITH_LOG },
      },
      {
        what: "verify all of it, content too",
        ours: { value: Math.max(...whole), unit: "records/s" },
      },
      {
        what: "verify all of it, two threads",
        ours: { value: Math.max(...threads), unit: "records/s" },
        beside: { name: "one thread", value: Math.max(...whole), unit: "records/s" },
        ratio: ratioOf(threads, whole),
        bar: { of: "ratio", limit: "at least", value: THREADS_RATIO },
      },
    ],
    raw: {
      "chains only, records/s": chains,
      "with log, records/s": log,
      "all, records/s": whole,
      "all in two threads, records/s": threads,
    },
    notes: [
      "verify: real read-only calls, five content items each; all of it recomputes all their digests and commitments, `--records-only` none",
    ],
  };

  async function rateOf(asked: Asked): Promise<number> {
    const { chainsOnly = false, recordsOnly = false, inTwo = false } = asked;
    const file = openLedgerFile(path);
    const startedMs = performance.now();
    const report = await verifyLedger(
      {
        async *records() {
          for (const page of file.pages()) yield* page;
        },
        async *pages(from, leave) {
          yield* file.pages(from, leave);
        },
        ...(inTwo && { hashedPages: () => readHashedPages(path) }),
        readFile: () => undefined,
      },
      { chainsOnly, recordsOnly },
    );
    const rate = (report.records * 1000) / (performance.now() - startedMs);
    file.close();
    const proven = chainsOnly || report.log.checkpoints > 0;
    const looked = recordsOnly || report.contentItems > 0;
    if (report.problemCount > 0 || !looked || !proven) throw new Error("the ledger is not sound");
    return rate;
  }
};

interface Asked {
  readonly chainsOnly?: boolean;
  readonly recordsOnly?: boolean;
  readonly inTwo?: boolean;
}
