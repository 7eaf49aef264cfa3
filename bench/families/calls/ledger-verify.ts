import { createKernel, verifyLedger } from "narthex";
import { callMany } from "../../harness/call-many.ts";
import type { Measurement } from "../../harness/measurement.ts";
import { openEmbedded } from "../../harness/open-embedded.ts";

const CALLS = 50_000;
const IN_FLIGHT = 256;
const MIN_PER_SECOND = 100_000;

/** How fast the independent reader reads a ledger of real calls, with all of its content, as the command has it read. */
export const ledgerVerify: Measurement = async ({ rounds, scale, directory }) => {
  const embedded = await openEmbedded(directory);
  await callMany(Math.round(CALLS * scale), IN_FLIGHT, (n) => embedded.call(n));
  await embedded.close();

  const kernel = await createKernel({ data: embedded.kernel.home.path });
  const rates: number[] = [];
  let read = { records: 0, contentItems: 0 };
  for (let round = 0; round < rounds; round++) {
    const startedMs = performance.now();
    read = await verify();
    rates.push((read.records * 1000) / (performance.now() - startedMs));
  }
  await kernel.close();
  return {
    rows: [
      {
        what: "ledger verify, content too",
        ours: { value: Math.max(...rates), unit: "records/s" },
        bar: { of: "ours", limit: "at least", value: MIN_PER_SECOND },
        picture: "ledger verify, records/s",
      },
    ],
    raw: { "records/s": rates },
    notes: [
      `ledger verify: ${read.records.toLocaleString("en-US")} records of real read-only calls with their ` +
        `${read.contentItems.toLocaleString("en-US")} content items, whose digests and commitments are recomputed too`,
    ],
  };

  async function verify(): Promise<{ records: number; contentItems: number }> {
    const report = await verifyLedger(kernel.ledgerSource());
    if (!report.intact || !report.complete || report.contentItems === 0) throw new Error("the ledger is not sound");
    return report;
  }
};
