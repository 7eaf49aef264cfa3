import { join } from "node:path";
import { callFor } from "../../harness/call-for.ts";
import { interleave } from "../../harness/interleave.ts";
import type { Measurement } from "../../harness/measurement.ts";
import { ratioOf } from "../../harness/statistics.ts";
import { openBenchedLedger } from "./signed-ledger.ts";

const IN_FLIGHT = 64;
/** Several times the time between two checkpoints. */
const ROUND_MS = 4000;
const MAX_RATIO = 1.15;

/** Records a second as fast as they go, while the log takes them all in and is signed once a second, beside the chain alone. */
export const appendingWithLog: Measurement = async ({ rounds, scale, directory }) => {
  const withLog = await openBenchedLedger(join(directory, "with"), "with the log");
  const alone = await openBenchedLedger(join(directory, "alone"), "chain alone");
  const load = (append: () => Promise<void>) => () =>
    callFor({ milliseconds: ROUND_MS * scale, inFlight: IN_FLIGHT, call: append });
  const results = await interleave(rounds, {
    withLog: load(() => withLog.append()),
    alone: load(() => alone.append()),
  });
  await withLog.close();
  await alone.close();
  const microseconds = (of: readonly { readonly perSecond: number }[]) => of.map(({ perSecond }) => 1e6 / perSecond);
  const [ours, theirs] = [microseconds(results.withLog), microseconds(results.alone)];
  return {
    rows: [
      {
        what: `a record appended with the Merkle log on, ${IN_FLIGHT} in flight`,
        ours: { value: Math.min(...ours), unit: "µs" },
        beside: { value: Math.min(...theirs), unit: "µs", name: "the chain alone" },
        ratio: ratioOf(ours, theirs),
        bar: { of: "ratio", limit: "at most", value: MAX_RATIO },
        picture: "appending, Merkle log beside chain alone",
      },
    ],
    raw: { "with the log, µs a record": ours, "chain alone, µs a record": theirs },
    notes: [`appending: ${withLog.signed()} checkpoints were signed meanwhile, each with its tiles durable before it`],
  };
};
