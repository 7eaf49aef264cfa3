import { fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { interleave } from "../../harness/interleave.ts";
import type { Measurement } from "../../harness/measurement.ts";
import { type Embedded, openEmbedded } from "../../harness/open-embedded.ts";
import { medianTime, ratioOf } from "../../harness/statistics.ts";

const COUNT = 400;
/** What a call may cost besides making its record durable. */
const ALLOWANCE_MS = 0.1;

/** A lone call beside the least a durable log costs: one write at the end of a file, and fdatasync. */
export const oneAtATime: Measurement = async ({ rounds, scale, directory }) => {
  const embedded = await openEmbedded(directory);
  const count = Math.max(20, Math.round(COUNT * scale));
  await embedded.call(0);
  const block = Buffer.alloc(await recordSize(embedded), 7);
  const file = openSync(join(embedded.kernel.home.path, "appended"), "a", 0o600);
  const results = await interleave(rounds, {
    ours: () => medianTime(count, (n) => embedded.call(n)),
    append: () =>
      medianTime(count, () => {
        writeSync(file, block);
        fdatasyncSync(file);
      }),
  });
  await embedded.close();
  const floor = results.append.map((ms) => ms + ALLOWANCE_MS);
  return {
    rows: [
      {
        what: "p50 of a call, one at a time",
        ours: { value: Math.min(...results.ours), unit: "ms" },
        beside: { value: Math.min(...floor), unit: "ms", name: "append + fdatasync, and 0.1 ms" },
        ratio: ratioOf(results.ours, floor),
        bar: { of: "ratio", limit: "at most", value: 2 },
        picture: "a lone call, beside append + fdatasync",
      },
    ],
    raw: { "ours, p50 ms": results.ours, "append + fdatasync, p50 ms": results.append },
    notes: [
      `one at a time: the appended block is as large as the call's record with its content, ${block.length} bytes`,
    ],
  };
};

async function recordSize({ kernel }: Embedded): Promise<number> {
  const stored = await kernel.readRecord(kernel.recordCount() - 1);
  if (stored === undefined) throw new Error("the call left no record");
  return stored.record.length + stored.content.length + stored.hash.length;
}
