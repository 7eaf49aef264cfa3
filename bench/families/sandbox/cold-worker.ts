import { execFile } from "node:child_process";
import { chown, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { interleave } from "../../harness/interleave.ts";
import type { Measurement } from "../../harness/measurement.ts";
import { medianTime, ratioOf } from "../../harness/statistics.ts";
import { openWorkbench, WORKSPACE_OWNER } from "./open-workbench.ts";

const COUNT = 8;
const run = promisify(execFile);

/** The first `file_read` in a workspace, which starts its worker, beside a Node that does nothing. */
export const coldWorker: Measurement = async ({ rounds, scale, directory }) => {
  const bench = await openWorkbench(directory);
  const count = Math.max(3, Math.round(COUNT * scale));
  let made = 0;
  const results = await interleave(rounds, {
    async ours() {
      const sessions = await Promise.all(Array.from({ length: count }, () => freshSession()));
      return await medianTime(count, (n) => bench.call("file_read", { path: "file.txt" }, sessions[n]));
    },
    node: () => medianTime(count, async () => void (await run(process.execPath, ["-e", "0"]))),
  });
  await bench.close();
  return {
    rows: [
      {
        what: "p50 of the first `file_read` in a workspace",
        ours: { value: Math.min(...results.ours), unit: "ms" },
        beside: { value: Math.min(...results.node), unit: "ms", name: "node -e 0" },
        ratio: ratioOf(results.ours, results.node),
        bar: { of: "ratio", limit: "at most", value: 1.5 },
        picture: "the first file_read, beside an empty Node",
      },
    ],
    raw: { "ours, p50 ms": results.ours, "node -e 0, p50 ms": results.node },
  };

  async function freshSession() {
    const workspace = join(directory, `cold-${made++}`);
    await mkdir(workspace);
    await writeFile(join(workspace, "file.txt"), "narthex");
    if (process.getuid?.() === 0) await chown(workspace, WORKSPACE_OWNER, WORKSPACE_OWNER);
    return await bench.kernel.session({ workspace });
  }
};
