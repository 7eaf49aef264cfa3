import { fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { buildCommand } from "../../../scripts/build/build-command.ts";
import { interleave } from "../../harness/interleave.ts";
import type { Measurement, Row } from "../../harness/measurement.ts";
import { medianTime, ratioOf } from "../../harness/statistics.ts";
import type { Pair } from "../calls/mcp/connect-pairs.ts";
import { bareOverHttp, bareOverStdio } from "./bare/bare-server.ts";
import { narthexOverHttp, narthexOverStdio } from "./narthex-server.ts";

const COUNT = 60;
/** What a call may cost besides the protocol and making its record durable. */
const ALLOWANCE_MS = 0.15;
/** As large as the record of such a call with its content. */
const BLOCK = Buffer.alloc(1700, 7);

/** One call at a time, beside the MCP SDK alone and the least that a durable log costs. */
export const loneCall: Measurement = async ({ rounds, scale, directory }) => {
  await using built = await buildCommand();
  const ours = { program: built.program, directory, revision: "current" } as const;
  const pairs = {
    stdio: await narthexOverStdio(ours),
    bareStdio: await bareOverStdio("current"),
    http: await narthexOverHttp(ours),
    bareHttp: await bareOverHttp("current"),
  };
  const file = openSync(join(directory, "appended"), "a", 0o600);
  const count = Math.max(20, Math.round(COUNT * scale));
  const time = (pair: Pair) => () => medianTime(count, (n) => pair.call(n));
  const times = await interleave(rounds, {
    stdio: time(pairs.stdio),
    bareStdio: time(pairs.bareStdio),
    append: () =>
      medianTime(count, () => {
        writeSync(file, BLOCK);
        fdatasyncSync(file);
      }),
    http: time(pairs.http),
    bareHttp: time(pairs.bareHttp),
  });
  await Promise.all(Object.values(pairs).map((pair) => pair.close()));

  const row = (over: string, taken: readonly number[], bare: readonly number[]): Row => {
    const floor = bare.map((ms, round) => ms + (times.append[round] ?? Number.NaN) + ALLOWANCE_MS);
    return {
      what: `p50 of a call over MCP ${over}, one at a time`,
      ours: { value: Math.min(...taken), unit: "ms" },
      beside: { value: Math.min(...floor), unit: "ms", name: "MCP SDK v2, and append + fdatasync, and 0.15 ms" },
      ratio: ratioOf(taken, floor),
      bar: { of: "ratio", limit: "at most", value: 1 },
      picture: `a lone call over MCP ${over}`,
    };
  };
  return {
    rows: [row("stdio", times.stdio, times.bareStdio), row("HTTP", times.http, times.bareHttp)],
    raw: {
      "ours over stdio, p50 ms": times.stdio,
      "bare over stdio, p50 ms": times.bareStdio,
      "ours over HTTP, p50 ms": times.http,
      "bare over HTTP, p50 ms": times.bareHttp,
      "append + fdatasync, p50 ms": times.append,
    },
  };
};
