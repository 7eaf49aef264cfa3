import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { packNarthex } from "../../../scripts/build/pack-narthex.ts";
import { type Measurement, NotMeasured } from "../../harness/measurement.ts";
import { ratioOf } from "../../harness/statistics.ts";
import { measureStart } from "../../start.ts";

const RUNS_PER_ROUND = 4;
const MAX_RATIO = 4;

/** The packed command, installed as anybody installs it and with a kernel serving, beside a Node that does nothing. */
export const commandStart: Measurement = async ({ rounds, directory }) => {
  const folder = join(directory, "installed");
  await install(await packNarthex({ directory: join(directory, "tarball") }), folder);
  const { call, alone, library, empty } = await measureStart(folder, rounds * RUNS_PER_ROUND);
  return {
    rows: [
      {
        what: "the command `call echo`, from start to end",
        ours: { value: call.bestMs, unit: "ms" },
        beside: { value: empty.bestMs, unit: "ms", name: "node -e 0" },
        ratio: ratioOf(call.runsMs, empty.runsMs),
        bar: { of: "ratio", limit: "at most", value: MAX_RATIO },
        picture: "the command, beside an empty Node",
      },
      {
        what: "the command `session list` where no kernel runs: it opens the home itself",
        ours: { value: alone.bestMs, unit: "ms" },
        beside: { value: empty.bestMs, unit: "ms", name: "node -e 0" },
        ratio: ratioOf(alone.runsMs, empty.runsMs),
      },
      {
        what: "a program that imports `narthex` and ends",
        ours: { value: library.bestMs, unit: "ms" },
        beside: { value: empty.bestMs, unit: "ms", name: "node -e 0" },
        ratio: ratioOf(library.runsMs, empty.runsMs),
      },
    ],
    raw: {
      "narthex call echo, ms": call.runsMs,
      "narthex session list, ms": alone.runsMs,
      "import narthex, ms": library.runsMs,
      "node -e 0, ms": empty.runsMs,
    },
  };
};

async function install(tarball: string, folder: string): Promise<void> {
  await mkdir(folder);
  await writeFile(join(folder, "package.json"), `{ "name": "program", "private": true }`);
  const words = ["install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error", tarball];
  try {
    await promisify(execFile)("npm", words, { cwd: folder });
  } catch (error) {
    throw new NotMeasured(`npm install: ${error instanceof Error ? error.message.split("\n")[1] : String(error)}`);
  }
}
