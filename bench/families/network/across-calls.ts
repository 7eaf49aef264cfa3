import { createEgressGate } from "../../../packages/host/src/egress/create-egress-gate.ts";
import { callFor } from "../../harness/call-for.ts";
import { interleave } from "../../harness/interleave.ts";
import type { Measurement, Row } from "../../harness/measurement.ts";
import { ratioOf } from "../../harness/statistics.ts";
import { readBody, UNDICI, undici } from "./gate-undici.ts";
import { openPass } from "./open-pass.ts";
import { serveLoopback } from "./serve-loopback.ts";

const ROUND_MS = 500;
/** Until the engine has compiled what a request needs, on either side. */
const FIRST_MS = 1500;
const IN_FLIGHT = 32;
const MAX_RATIO = 1.25;

/** A request for each call: nothing is shared between calls, so each dials; beside the library with a connection each. */
export const acrossCalls: Measurement = async ({ rounds, scale }) => {
  const server = await serveLoopback();
  const url = `${server.url}/json`;
  const gate = createEgressGate({});
  const pass = openPass(server.port);
  const { signal } = new AbortController();

  const ours = async (): Promise<void> => {
    const exit = gate.open(pass);
    await readBody((await exit.request({ method: "GET", url }, signal)).body);
    await exit.close();
  };
  const theirs = async (): Promise<void> => {
    const client = new undici.Client(server.url);
    await readBody((await client.request({ method: "GET", path: "/json" })).body);
    await client.destroy();
  };
  const load =
    (call: () => Promise<void>, inFlight: number, milliseconds = ROUND_MS) =>
    async (): Promise<number> =>
      (await callFor({ milliseconds: milliseconds * scale, inFlight, call })).perSecond;
  for (const call of [ours, theirs]) await load(call, IN_FLIGHT, FIRST_MS)();
  const rates = await interleave(rounds, {
    ours: load(ours, 1),
    theirs: load(theirs, 1),
    oursMany: load(ours, IN_FLIGHT),
    theirsMany: load(theirs, IN_FLIGHT),
  });
  await gate.close();
  await server.stop();

  const row = (how: string, gated: readonly number[], plain: readonly number[]): Row => ({
    what: `GET of 1 KB of a call of its own, ${how}`,
    ours: { value: Math.max(...gated), unit: "/s" },
    beside: { value: Math.max(...plain), unit: "/s", name: `${UNDICI}, a client each` },
    ratio: ratioOf(plain, gated),
    bar: { of: "ratio", limit: "at most", value: MAX_RATIO },
    picture: `requests of a call each, ${how}`,
  });
  return {
    rows: [
      row("one at a time", rates.ours, rates.theirs),
      row(`${IN_FLIGHT} in flight`, rates.oursMany, rates.theirsMany),
    ],
    raw: {
      "gate, one at a time, /s": rates.ours,
      "undici, one at a time, /s": rates.theirs,
      "gate, in flight, /s": rates.oursMany,
      "undici, in flight, /s": rates.theirsMany,
    },
    notes: ["A call's exit is opened and closed with it, as the library's client is."],
  };
};
