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
/** As many as the gate has for one grant. */
const CONNECTIONS = 16;
const MAX_RATIO = 1.25;

/** Requests of one grant: checked, counted and bounded, beside the library that sends them. */
export const oneGrant: Measurement = async ({ rounds, scale }) => {
  const server = await serveLoopback();
  const url = `${server.url}/json`;
  const gate = createEgressGate({});
  const exit = gate.open(openPass(server.port));
  const agent = new undici.Agent({ connections: CONNECTIONS });
  const { signal } = new AbortController();

  const ours = async (): Promise<void> => readBody((await exit.request({ method: "GET", url }, signal)).body);
  const theirs = async (): Promise<void> => readBody((await undici.request(url, { dispatcher: agent })).body);
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
  await agent.close();
  await server.stop();

  const row = (how: string, gated: readonly number[], plain: readonly number[]): Row => ({
    what: `GET of 1 KB within one grant, ${how}`,
    ours: { value: Math.max(...gated), unit: "/s" },
    beside: { value: Math.max(...plain), unit: "/s", name: `${UNDICI}, keep-alive` },
    ratio: ratioOf(plain, gated),
    bar: { of: "ratio", limit: "at most", value: MAX_RATIO },
    picture: `requests of one grant, ${how}`,
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
    notes: ["The ratio is the time of a request through the gate, in times of one without; no ledger is kept here."],
  };
};
