import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { createWasmRunner, openContainment } from "@narthex/host";
import { interleave } from "../../frame/interleave.ts";
import type { Measurement } from "../../frame/measurement.ts";
import { medianTime, ratioOf } from "../../frame/statistics.ts";
import { checksumCall } from "./checksum-tool.ts";

const COUNT = 8;
const MAX_RATIO = 3;
const run = promisify(execFile);

/** The first module of a place: its host is started in a sandbox, the module metered, compiled and run. */
export const coldHost: Measurement = async ({ rounds, scale, directory }) => {
  const count = Math.max(3, Math.round(COUNT * scale));
  const containment = await openContainment({ directory: join(directory, "sandbox") });
  const results = await interleave(rounds, {
    async ours() {
      const runner = createWasmRunner({ containment: () => Promise.resolve(containment), bounds: { maxHosts: count } });
      const call = await checksumCall("");
      const { signal } = new AbortController();
      const time = await medianTime(count, async (n) => {
        const place = { ...call, place: `place ${n}` };
        const { how } = await runner.run(place, () => Promise.resolve(new Uint8Array(0)), signal);
        if (how.kind !== "answered") throw new Error(`the module ended otherwise: ${how.kind}`);
      });
      await runner.close();
      return time;
    },
    node: () => medianTime(count, async () => void (await run(process.execPath, ["-e", "0"]))),
  });
  await containment.close();
  return {
    rows: [
      {
        what: "p50 of the first module of a session, from a cold host",
        ours: { value: Math.min(...results.ours), unit: "ms" },
        beside: { value: Math.min(...results.node), unit: "ms", name: "node -e 0" },
        ratio: ratioOf(results.ours, results.node),
        bar: { of: "ratio", limit: "at most", value: MAX_RATIO },
        picture: "the first WebAssembly tool, beside an empty Node",
      },
    ],
    raw: { "ours, p50 ms": results.ours, "node -e 0, p50 ms": results.node },
  };
};
