import { chown, writeFile } from "node:fs/promises";
import { fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { interleave } from "../../harness/interleave.ts";
import type { Measurement } from "../../harness/measurement.ts";
import { medianTime, ratioOf } from "../../harness/statistics.ts";
import { openWorkbench, WORKSPACE_OWNER } from "./open-workbench.ts";

const COUNT = 300;
const FILE_BYTES = 4096;
/** What reading in a sandboxed worker may cost besides making the record durable. */
const ALLOWANCE_MS = 0.3;

/** `file_read` of 4 KB, one at a time, beside the least a durable log costs. */
export const fileRead: Measurement = async ({ rounds, scale, directory }) => {
  const bench = await openWorkbench(directory);
  const path = join(bench.workspace, "file.txt");
  await writeFile(path, "narthex ".repeat(FILE_BYTES / 8));
  if (process.getuid?.() === 0) await chown(path, WORKSPACE_OWNER, WORKSPACE_OWNER);
  const count = Math.max(20, Math.round(COUNT * scale));
  const log = openSync(join(directory, "appended"), "a", 0o600);
  // The result lies in the record's own row, so the record is longer than the file.
  const record = Buffer.alloc(FILE_BYTES + 2500, 7);
  const results = await interleave(rounds, {
    ours: () => medianTime(count, () => bench.call("file_read", { path: "file.txt" })),
    append: () =>
      medianTime(count, () => {
        writeSync(log, record);
        fdatasyncSync(log);
      }),
  });
  await bench.close();
  const floor = results.append.map((ms) => ms + ALLOWANCE_MS);
  return {
    rows: [
      {
        what: "p50 of `file_read` of 4 KB, one at a time",
        ours: { value: Math.min(...results.ours), unit: "ms" },
        beside: { value: Math.min(...floor), unit: "ms", name: "append + fdatasync, and 0.3 ms" },
        ratio: ratioOf(results.ours, floor),
        bar: { of: "ratio", limit: "at most", value: 2 },
        picture: "file_read, beside append + fdatasync",
      },
    ],
    raw: { "ours, p50 ms": results.ours, "append + fdatasync, p50 ms": results.append },
  };
};
