import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { interleave } from "../../harness/interleave.ts";
import type { Measurement, Row } from "../../harness/measurement.ts";
import { ratioOf } from "../../harness/statistics.ts";
import { BIG_MB } from "./bodies.ts";
import { openNetwork } from "./open-network.ts";
import { serveLoopback } from "./serve-loopback.ts";

const REQUESTS = 900;
const MAX_RATIO = 5;
const run = promisify(execFile);

/** What a program in the sandbox gets through the gate, beside the same program outside that asks directly. */
export const fromSandbox: Measurement = async ({ rounds, scale, directory }) => {
  const server = await serveLoopback();
  const bench = await openNetwork(directory, server.port);
  const count = Math.max(50, Math.round(REQUESTS * scale));
  const many = `${server.url}/json?[1-${count}]`;
  const big = `${server.url}/big`;

  const inside = async (url: string): Promise<number> => {
    const command = askingCommand(url, '-x "$http_proxy"');
    const answer = (await bench.call("shell_exec", { command, network_access: true })) as ShellAnswer;
    return secondsOf(answer.stdout.text);
  };
  const outside = async (url: string): Promise<number> =>
    secondsOf((await run("/bin/sh", ["-c", askingCommand(url, "")])).stdout);

  const results = await interleave(rounds, {
    ours: async () => count / (await inside(many)),
    direct: async () => count / (await outside(many)),
    oursBig: async () => BIG_MB / (await inside(big)),
    directBig: async () => BIG_MB / (await outside(big)),
  });
  await bench.close();
  await server.stop();

  const row = (what: string, unit: string, ours: readonly number[], direct: readonly number[]): Row => ({
    what: `${what} by curl in the sandbox`,
    ours: { value: Math.max(...ours), unit },
    beside: { value: Math.max(...direct), unit, name: "curl outside, without the gate" },
    ratio: ratioOf(direct, ours),
    bar: { of: "ratio", limit: "at most", value: MAX_RATIO },
    picture: `${what} from the sandbox`,
  });
  return {
    rows: [
      row("requests of 1 KB", "/s", results.ours, results.direct),
      row(`a body of ${BIG_MB} MB`, "MB/s", results.oursBig, results.directBig),
    ],
    raw: {
      "through the gate, /s": results.ours,
      "direct, /s": results.direct,
      "through the gate, MB/s": results.oursBig,
      "direct, MB/s": results.directBig,
    },
    notes: [
      "Over one connection; the time is what curl says that its requests took, so no start of a program is in it.",
    ],
  };
};

interface ShellAnswer {
  readonly stdout: { readonly text: string };
}

/** Prints how long all requests took, and fails unless each was answered. */
function askingCommand(url: string, proxy: string): string {
  const asking = `curl -s ${proxy} --noproxy "" -o /dev/null -w '%{http_code} %{time_total}\\n' '${url}'`;
  return `${asking} | perl -ane 'exit 1 if $F[0] != 200; $s += $F[1]; END { print $s }'`;
}

function secondsOf(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0)) throw new Error(`curl did not get what it asked for: ${text}`);
  return seconds;
}
