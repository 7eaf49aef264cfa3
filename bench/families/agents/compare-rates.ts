import { callFor } from "../../harness/call-for.ts";
import { interleave } from "../../harness/interleave.ts";
import type { Bench, Outcome, Row } from "../../harness/measurement.ts";
import { ratioOf } from "../../harness/statistics.ts";
import type { Pair } from "../calls/mcp/connect-pairs.ts";

export interface Contest {
  /** What calls come over. */
  readonly over: string;
  /** Ours and the bare one, in each revision. */
  readonly pairs: Readonly<Record<"ours" | "bare" | "oursBefore" | "bareBefore", Pair>>;
  readonly bar: number;
  /** The bare servers of both revisions. */
  readonly names: readonly [current: string, previous: string];
}

const IN_FLIGHT = 32;
const ROUND_MS = 500;
/** Until the engine has compiled what a call needs, on either side. */
const FIRST_MS = 1500;

/** Calls per second of both servers, with so many calls in flight, in both revisions of the protocol. */
export async function compareRates({ rounds, scale }: Bench, contest: Contest): Promise<Outcome> {
  const { pairs, over, bar, names } = contest;
  const load =
    ({ call }: Pair, milliseconds = ROUND_MS) =>
    async (): Promise<number> =>
      (await callFor({ milliseconds: milliseconds * scale, inFlight: IN_FLIGHT, call })).perSecond;
  for (const pair of Object.values(pairs)) await load(pair, FIRST_MS)();
  const rates = await interleave(rounds, {
    ours: load(pairs.ours),
    bare: load(pairs.bare),
    oursBefore: load(pairs.oursBefore),
    bareBefore: load(pairs.bareBefore),
  });
  await Promise.all(Object.values(pairs).map((pair) => pair.close()));

  const row = (revision: string, ours: readonly number[], theirs: readonly number[], name: string): Row => ({
    what: `echo over MCP ${over}, ${revision} revision, ${IN_FLIGHT} in flight`,
    ours: { value: Math.max(...ours), unit: "/s" },
    beside: { value: Math.max(...theirs), unit: "/s", name },
    ratio: ratioOf(ours, theirs),
    bar: { of: "ratio", limit: "at least", value: bar },
    picture: `MCP ${over}, ${revision} revision`,
  });
  return {
    rows: [
      row("current", rates.ours, rates.bare, names[0]),
      row("previous", rates.oursBefore, rates.bareBefore, names[1]),
    ],
    raw: {
      [`ours ${over}, current revision, calls/s`]: rates.ours,
      [`bare ${over}, current revision, calls/s`]: rates.bare,
      [`ours ${over}, previous revision, calls/s`]: rates.oursBefore,
      [`bare ${over}, previous revision, calls/s`]: rates.bareBefore,
    },
  };
}
