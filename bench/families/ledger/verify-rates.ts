import { join } from "node:path";
import { openLedgerFile, readHashedPages, verifyLedger } from "@narthex/verify";
import { callMany } from "../../frame/call-many.ts";
import type { Measurement } from "../../frame/measurement.ts";
import { openEmbedded } from "../../frame/open-embedded.ts";
import { ratioOf } from "../../frame/statistics.ts";

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
  const threads: number[] = [];
  for (let round = 0; round < rounds; round++) {
    chains.push(await rateOf({ chainsOnly: true, inTwo: false }));
    log.push(await rateOf({ chainsOnly: false, inTwo: false }));
    threads.push(await rateOf({ chainsOnly: false, inTwo: true }));
  }
  return {
    rows: [
      {
        what: "verify, chains only",
        ours: { value: Math.max(...chains), unit: "records/s" },
        bar: { of: "ours", limit: "at least", value: CHAIN_ONLY },
      },
      {
        what: "verify with the Merkle log",
        ours: { value: Math.max(...log), unit: "records/s" },
        bar: { of: "ours", limit: "at least", value: WITH_LOG },
      },
      {
        what: "verify with the Merkle log, two threads",
        ours: { value: Math.max(...threads), unit: "records/s" },
        beside: { name: "one thread", value: Math.max(...log), unit: "records/s" },
        ratio: ratioOf(threads, log),
        bar: { of: "ratio", limit: "at least", value: THREADS_RATIO },
      },
    ],
    raw: { "chains only, records/s": chains, "with log, records/s": log, "two threads, records/s": threads },
    notes: [
      "verify: real read-only calls, five content items each, all of whose digests and commitments are recomputed",
    ],
  };

  async function rateOf({ chainsOnly, inTwo }: { chainsOnly: boolean; inTwo: boolean }): Promise<number> {
    const file = openLedgerFile(path);
    const startedMs = performance.now();
    const report = await verifyLedger(
      {
        async *records() {
          for (const page of file.pages()) yield* page;
        },
        async *pages() {
          yield* file.pages();
        },
        ...(inTwo && { hashedPages: () => readHashedPages(path) }),
        readFile: () => undefined,
      },
      { chainsOnly },
    );
    const rate = (report.records * 1000) / (performance.now() - startedMs);
    file.close();
    const proven = chainsOnly || report.log.checkpoints > 0;
    if (report.problemCount > 0 || report.contentItems === 0 || !proven) throw new Error("the ledger is not sound");
    return rate;
  }
};
