import { mkdtemp } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { createKernel } from "narthex";
import { buildCommand } from "../../../scripts/build/build-command.ts";
import { callFor } from "../../harness/call-for.ts";
import { interleave } from "../../harness/interleave.ts";
import type { Measurement, Row } from "../../harness/measurement.ts";
import { startServer } from "../../harness/start-server.ts";
import { median, ratioOf } from "../../harness/statistics.ts";

interface Narthex {
  readonly createKernel: typeof createKernel;
}

const COLLECTOR = fileURLToPath(new URL("collector.ts", import.meta.url));
const IN_FLIGHT = 64;
const ROUND_MS = 500;
/** Until the engine has compiled what a call needs. */
const FIRST_MS = 1500;

/** What spans cost a call: asked for and switched off, and on their way to a collector, beside never asked for. */
export const tracing: Measurement = async ({ rounds, scale, directory }) => {
  await using built = await buildCommand();
  const address = pathToFileURL(join(dirname(built.program), "../dist/index.js")).href;
  const narthex = (await import(address)) as Narthex;
  const { firstLine, stop } = await startServer([COLLECTOR]);
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${firstLine}` };
  const kernels = {
    absent: await openWith(narthex, join(directory, "absent"), {}),
    off: await openWith(narthex, join(directory, "off"), { ...endpoint, OTEL_SDK_DISABLED: "true" }),
    on: await openWith(narthex, join(directory, "on"), endpoint),
  };
  const load =
    (call: (n: number) => Promise<void>, milliseconds = ROUND_MS) =>
    async (): Promise<number> =>
      (await callFor({ milliseconds: milliseconds * scale, inFlight: IN_FLIGHT, call })).perSecond;
  for (const { call } of Object.values(kernels)) await load(call, FIRST_MS)();
  const rates = await interleave(rounds, {
    absent: load(kernels.absent.call),
    off: load(kernels.off.call),
    on: load(kernels.on.call),
  });
  await Promise.all(Object.values(kernels).map((kernel) => kernel.close()));
  await stop();

  const row = (how: string, ours: readonly number[]): Row => ({
    what: `a call in process with tracing ${how}, ${IN_FLIGHT} in flight: its time beside none`,
    ours: { value: Math.max(...ours), unit: "/s" },
    beside: { value: Math.max(...rates.absent), unit: "/s", name: "without an observer" },
    ratio: ratioOf(rates.absent, ours),
  });
  const costUs = rates.on.map((rate, round) => 1e6 / rate - 1e6 / (rates.absent[round] ?? Number.NaN));
  return {
    rows: [row("off", rates.off), row("on", rates.on)],
    raw: { "absent, calls/s": rates.absent, "off, calls/s": rates.off, "on, calls/s": rates.on, "on, µs more": costUs },
    notes: [
      `tracing: on costs a call ${median(costUs).toFixed(0)} µs here, for a span and one for each stage, sent by OTLP in batches`,
    ],
  };
};

/** The variables are read when a kernel opens, and by it alone. */
async function openWith(narthex: Narthex, data: string, variables: Readonly<Record<string, string>>) {
  Object.assign(process.env, variables);
  const kernel = await narthex.createKernel({ data });
  for (const name of Object.keys(variables)) delete process.env[name];
  const session = await kernel.session({ workspace: await mkdtemp(`${data}-workspace-`) });
  return {
    async call(n: number): Promise<void> {
      const { status } = await session.call("echo", { n, text: "hello world" });
      if (status !== "success") throw new Error(`echo answered ${status}`);
    },
    close: () => kernel.close(),
  };
}
