import { callFor } from "../../harness/call-for.ts";
import { interleave } from "../../harness/interleave.ts";
import type { Measurement } from "../../harness/measurement.ts";
import { openEmbedded } from "../../harness/open-embedded.ts";
import { ratioOf } from "../../harness/statistics.ts";
import { openLongLedger } from "./long-ledger.ts";

const RECORDS = 1_000_000;
const IN_FLIGHT = 64;
const ROUND_MS = 1500;
const MAX_RATIO = 1.5;

/** What a call costs does not depend on how many were made before. */
export const costOfALongLedger: Measurement = async (bench) => {
  const { rounds, scale, directory } = bench;
  const records = Math.round(RECORDS * scale);
  const madeMs = Date.now();
  const long = await openLongLedger(bench, records);
  const secondsToMake = (Date.now() - madeMs) / 1000;
  const before = long.kernel.recordCount();
  let homes = 0;
  const microseconds = async (call: (n: number) => Promise<void>): Promise<number> =>
    1e6 / (await callFor({ milliseconds: Math.max(200, ROUND_MS * scale), inFlight: IN_FLIGHT, call })).perSecond;
  const costs = await interleave(rounds, {
    long: () => microseconds((n) => long.call(n)),
    empty: async () => {
      const fresh = await openEmbedded(directory, `home-${++homes}`);
      try {
        return await microseconds((n) => fresh.call(n));
      } finally {
        await fresh.close();
      }
    },
  });
  await long.close();
  return {
    rows: [
      {
        what: `a call after ${records.toLocaleString("en-US")} records`,
        ours: { value: Math.min(...costs.long), unit: "µs" },
        beside: { value: Math.min(...costs.empty), unit: "µs", name: "on an empty ledger" },
        ratio: ratioOf(costs.long, costs.empty),
        bar: { of: "ratio", limit: "at most", value: MAX_RATIO },
        picture: "a call after a million records",
      },
    ],
    raw: { "long ledger, µs a call": costs.long, "empty ledger, µs a call": costs.empty },
    notes: [
      `the long ledger had ${before.toLocaleString("en-US")} records before the rounds, all of them real calls, kept from run ` +
        `to run; opening it${secondsToMake > SECONDS_OF_MAKING ? " and making what was missing" : ""} took ${secondsToMake.toFixed(1)} s; ` +
        `${IN_FLIGHT} calls in flight`,
    ],
  };
};

const SECONDS_OF_MAKING = 4;
