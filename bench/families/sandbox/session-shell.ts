import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { interleave } from "../../harness/interleave.ts";
import type { Measurement } from "../../harness/measurement.ts";
import { medianTime, ratioOf } from "../../harness/statistics.ts";
import { openWorkbench } from "./open-workbench.ts";

const COUNT = 30;
const INPUT = { command: "true" };

/** `true` in the shell of a session that is there already, beside a fresh sandbox. */
export const sessionShell: Measurement = async ({ rounds, scale, directory }) => {
  await chmod(directory, 0o755);
  const open = async (backend: string) => {
    const place = join(directory, backend);
    await mkdir(place, { mode: 0o755 });
    return await openWorkbench(place, `shell:\n  backend: ${backend}\n`);
  };
  const [fresh, session] = [await open("sandbox"), await open("session")];
  const count = Math.max(5, Math.round(COUNT * scale));
  const results = await interleave(rounds, {
    ours: () => medianTime(count, () => session.call("shell_exec", INPUT)),
    fresh: () => medianTime(count, () => fresh.call("shell_exec", INPUT)),
  });
  await fresh.close();
  await session.close();
  return {
    rows: [
      {
        what: "p50 of `true` in a session's shell",
        ours: { value: Math.min(...results.ours), unit: "ms" },
        beside: { value: Math.min(...results.fresh), unit: "ms", name: "a fresh sandbox" },
        ratio: ratioOf(results.ours, results.fresh),
        bar: { of: "ratio", limit: "at most", value: 0.4 },
        picture: "a session's shell, beside a fresh sandbox",
      },
    ],
    raw: { "session's shell, p50 ms": results.ours, "fresh sandbox, p50 ms": results.fresh },
  };
};
