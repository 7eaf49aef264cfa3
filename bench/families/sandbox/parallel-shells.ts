import { readdir, readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import type { Measurement } from "../../harness/measurement.ts";
import { openWorkbench } from "./open-workbench.ts";

const CALLS = 200;
const WAIT_MS = 100;
const MAX_WAITS = 60;

/** Two hundred commands at once: none fails, and nothing is left of them. */
export const parallelShells: Measurement = async ({ scale, directory }) => {
  const bench = await openWorkbench(directory);
  const count = Math.max(10, Math.round(CALLS * scale));
  await bench.call("shell_exec", { command: "true" });
  const before = await leftovers();
  const startedMs = performance.now();
  const ended = await Promise.allSettled(
    Array.from({ length: count }, (_, n) =>
      bench.call("shell_exec", { command: `echo ${n}; head -c 100000 /dev/zero | wc -c` }),
    ),
  );
  const seconds = (performance.now() - startedMs) / 1000;
  const failed = ended.filter(({ status }) => status === "rejected").length;
  // The home of the workspace is measured a moment after its last use.
  let after = await leftovers();
  for (let waits = 0; waits < MAX_WAITS && after.files > before.files; waits++) {
    await setTimeout(WAIT_MS);
    after = await leftovers();
  }
  await bench.close();
  const left = Math.max(0, after.files - before.files) + Math.max(0, after.mounts - before.mounts);
  return {
    rows: [
      {
        what: `failures among ${count} commands at once`,
        ours: { value: failed, unit: "" },
        bar: { of: "ours", limit: "at most", value: 0 },
      },
      {
        what: "open files and mounts left by them",
        ours: { value: left, unit: "" },
        bar: { of: "ours", limit: "at most", value: 0 },
      },
      { what: `${count} commands at once`, ours: { value: count / seconds, unit: "/s" } },
    ],
    raw: { "seconds for all": [seconds] },
  };
};

async function leftovers(): Promise<{ readonly files: number; readonly mounts: number }> {
  const files = (await readdir("/proc/self/fd")).length;
  const mounts = (await readFile("/proc/self/mountinfo", "utf8")).split("\n").length;
  return { files, mounts };
}
