import { interleave } from "../../harness/interleave.ts";
import type { Measurement } from "../../harness/measurement.ts";
import { medianTime, ratioOf } from "../../harness/statistics.ts";
import { openNetwork } from "./open-network.ts";
import { serveLoopback } from "./serve-loopback.ts";

const FETCHES = 60;
const SHELLS = 12;

/** What the network costs a whole call, which is durable before its answer leaves. */
export const wholeCall: Measurement = async ({ rounds, scale, directory }) => {
  const server = await serveLoopback();
  const bench = await openNetwork(directory, server.port);
  const fetches = Math.max(10, Math.round(FETCHES * scale));
  const shells = Math.max(4, Math.round(SHELLS * scale));
  const shell = (more: { readonly network_access?: boolean }) => () =>
    medianTime(shells, async () => void (await bench.call("shell_exec", { command: "true", ...more })));
  const results = await interleave(rounds, {
    fetch: () => medianTime(fetches, async () => void (await bench.call("http_fetch", { url: `${server.url}/json` }))),
    echo: () => medianTime(fetches, async () => void (await bench.call("echo", { text: "hello world" }))),
    shell: shell({}),
    networkShell: shell({ network_access: true }),
  });
  await bench.close();
  await server.stop();
  return {
    rows: [
      {
        what: "p50 of a whole `http_fetch` of 1 KB, one at a time",
        ours: { value: Math.min(...results.fetch), unit: "ms" },
        beside: { value: Math.min(...results.echo), unit: "ms", name: "an `echo` call" },
        ratio: ratioOf(results.fetch, results.echo),
      },
      {
        what: "p50 of `true` in a fresh sandbox with a way to the gate",
        ours: { value: Math.min(...results.networkShell), unit: "ms" },
        beside: { value: Math.min(...results.shell), unit: "ms", name: "without the network" },
        ratio: ratioOf(results.networkShell, results.shell),
      },
    ],
    raw: {
      "http_fetch, p50 ms": results.fetch,
      "echo, p50 ms": results.echo,
      "shell_exec with the network, p50 ms": results.networkShell,
      "shell_exec without, p50 ms": results.shell,
    },
  };
};
