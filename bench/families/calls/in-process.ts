import { callFor, type LoadResult } from "../../harness/call-for.ts";
import { interleave } from "../../harness/interleave.ts";
import type { Measurement, Row } from "../../harness/measurement.ts";
import { openEmbedded } from "../../harness/open-embedded.ts";
import { ratioOf } from "../../harness/statistics.ts";
import { connectBare, connectFirst, connectSecond } from "./mcp/connect-pairs.ts";

const IN_FLIGHT = 64;
const ROUND_MS = 1200;
const MAX_P99_MS = 25;

/** `echo` in one process: the whole durable path, beside the MCP SDK's in-memory pairs, which check and keep less. */
export const inProcess: Measurement = async ({ rounds, scale, directory }) => {
  const embedded = await openEmbedded(directory);
  const [second, bare, first] = [await connectSecond(), await connectBare(), await connectFirst()];
  const load = (call: (n: number) => Promise<void>) => () =>
    callFor({ milliseconds: ROUND_MS * scale, inFlight: IN_FLIGHT, call });
  const results = await interleave(rounds, {
    ours: load((n) => embedded.call(n)),
    second: load((n) => second.call(n)),
    bare: load((n) => bare.call(n)),
    first: load((n) => first.call(n)),
  });
  await Promise.all([second.close(), bare.close(), first.close()]);
  await embedded.close();

  const ours = rates(results.ours);
  const against = (name: string, theirs: readonly number[]): Row => ({
    what: `calls in process, ${IN_FLIGHT} in flight`,
    ours: { value: Math.max(...ours), unit: "/s" },
    beside: { value: Math.max(...theirs), unit: "/s", name },
    ratio: ratioOf(ours, theirs),
  });
  const p99 = results.ours.map(({ p99Ms }) => p99Ms);
  return {
    rows: [
      {
        ...against("MCP SDK v2, McpServer, in memory", rates(results.second)),
        bar: { of: "ratio", limit: "at least", value: 1 },
        picture: "in process, beside MCP v2 in memory",
      },
      against("MCP SDK v2, bare Server, in memory", rates(results.bare)),
      against("MCP SDK v1, McpServer, in memory", rates(results.first)),
      {
        what: `p99 of a call, ${IN_FLIGHT} in flight`,
        ours: { value: Math.min(...p99), unit: "ms" },
        beside: {
          value: Math.min(...results.second.map(({ p99Ms }) => p99Ms)),
          unit: "ms",
          name: "MCP SDK v2, McpServer, in memory",
        },
        bar: { of: "ours", limit: "at most", value: MAX_P99_MS },
        picture: "p99 of a call under load",
      },
    ],
    raw: {
      "ours, calls/s": ours,
      "MCP SDK v2 McpServer, calls/s": rates(results.second),
      "MCP SDK v2 Server, calls/s": rates(results.bare),
      "MCP SDK v1 McpServer, calls/s": rates(results.first),
      "ours, p99 ms": p99,
      "MCP SDK v2 McpServer, p99 ms": results.second.map(({ p99Ms }) => p99Ms),
    },
  };
};

function rates(results: readonly LoadResult[]): number[] {
  return results.map(({ perSecond }) => perSecond);
}
