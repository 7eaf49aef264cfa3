import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { buildCommand } from "../../../scripts/build/build-command.ts";
import type { Measurement } from "../../harness/measurement.ts";
import { median, ratioOf } from "../../harness/statistics.ts";
import { connectStdio } from "./connect-client.ts";
import { openPlace, type Place } from "./open-place.ts";

const RUNS = 9;
const MAX_ATTACH_MS = 500;
const MAX_START_MS = 900;
const MAX_CREATE_MS = 200;
const run = promisify(execFile);

/** From the start of `narthex mcp` to its first answer, and what a kernel costs the program that creates one. */
export const clientStart: Measurement = async ({ directory }) => {
  await using built = await buildCommand();
  const place = await openPlace(directory, "clients");
  const library = join(dirname(built.program), "../dist/index.js");
  const times = { empty: [] as number[], attached: [] as number[], started: [] as number[], created: [] as number[] };
  const stop = (): Promise<unknown> => run(process.execPath, [built.program, "stop"], { env: place.env });
  try {
    // Makes the home, and fills the compile cache of client and kernel, which are written at their ends.
    await timeFirstEcho(built.program, place);
    await stop();
    for (let done = 0; done < RUNS; done++) {
      times.empty.push(await timeEmpty(place));
      times.started.push(await timeFirstEcho(built.program, place));
      times.attached.push(await timeFirstEcho(built.program, place));
      await stop();
      times.created.push(await createKernelMs(library, join(directory, `kernel-${done}`), place));
    }
  } finally {
    await stop().catch(() => undefined);
  }
  const { empty, attached, started, created } = times;
  const beside = { value: median(empty), unit: "ms", name: "node -e 0" };
  return {
    rows: [
      {
        what: "`narthex mcp` from its start to the first answer, with a kernel that runs",
        ours: { value: median(attached), unit: "ms" },
        beside,
        ratio: ratioOf(attached, empty),
        bar: { of: "ours", limit: "at most", value: MAX_ATTACH_MS },
      },
      {
        what: "the same where it starts the kernel",
        ours: { value: median(started), unit: "ms" },
        beside,
        ratio: ratioOf(started, empty),
        bar: { of: "ours", limit: "at most", value: MAX_START_MS },
      },
      {
        what: "`createKernel` on a new home, with the code that it loads: CPU time of all threads",
        ours: { value: median(created), unit: "ms" },
        bar: { of: "ours", limit: "at most", value: MAX_CREATE_MS },
      },
    ],
    raw: {
      "mcp attaching, ms": attached,
      "mcp starting, ms": started,
      "createKernel, ms of CPU": created,
      "node -e 0, ms": empty,
    },
  };
};

async function timeFirstEcho(program: string, { workspace, env }: Place): Promise<number> {
  const startedMs = performance.now();
  const client = await connectStdio([program, "mcp", "--workspace", workspace], "previous", env);
  const answer = await client.callTool({ name: "echo", arguments: { text: "hello" } });
  const elapsedMs = performance.now() - startedMs;
  await client.close();
  if (answer.isError === true) throw new Error(`echo answered ${JSON.stringify(answer.content)}`);
  return elapsedMs;
}

async function timeEmpty({ env }: Place): Promise<number> {
  const startedMs = performance.now();
  await run(process.execPath, ["-e", "0"], { env });
  return performance.now() - startedMs;
}

async function createKernelMs(library: string, data: string, { env }: Place): Promise<number> {
  const program = `
    const { createKernel } = await import(${JSON.stringify(pathToFileURL(library).href)});
    const before = process.cpuUsage();
    const kernel = await createKernel({ data: ${JSON.stringify(data)} });
    const { user, system } = process.cpuUsage(before);
    console.log((user + system) / 1000);
    await kernel.close();`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program], { env });
  return Number(stdout);
}
