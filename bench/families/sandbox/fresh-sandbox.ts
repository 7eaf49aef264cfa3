import { openContainment } from "../../../packages/host/src/sandbox/open-containment.ts";
import { interleave } from "../../harness/interleave.ts";
import { type Measurement, NotMeasured } from "../../harness/measurement.ts";
import { medianTime, ratioOf } from "../../harness/statistics.ts";
import { prepareBareBubblewrap } from "./bare-bubblewrap.ts";
import { openWorkbench } from "./open-workbench.ts";
import { planOfShell } from "./shell-sandbox-plan.ts";
import { prepareSandboxRuntime } from "./sandbox-runtime.ts";

const COUNT = 30;
const COMMAND = "true";

/** `true` in a fresh sandbox through the whole kernel, beside bare bubblewrap and another sandbox for agents. */
export const freshSandbox: Measurement = async ({ rounds, scale, directory }) => {
  const bench = await openWorkbench(directory);
  const { machine, problem } = await openContainment({ directory: `${directory}/machine` });
  if (machine === undefined) throw new NotMeasured(`no sandbox here: ${problem?.problem}`);
  const count = Math.max(5, Math.round(COUNT * scale));
  const plan = await planOfShell(bench.workspace, directory);
  const bare = await prepareBareBubblewrap(machine, plan, ["/bin/bash", "-c", COMMAND], directory);
  const other = await prepareSandboxRuntime(bench.workspace, COMMAND);
  const results = await interleave(rounds, {
    ours: () => medianTime(count, () => bench.call("shell_exec", { command: COMMAND })),
    bare: () => medianTime(count, bare),
    other: () => medianTime(Math.max(3, Math.round(count / 3)), other.run),
  });
  await other.close();
  await bench.close();
  return {
    rows: [
      {
        what: "p50 of `true` in a fresh sandbox, through the whole kernel",
        ours: { value: Math.min(...results.ours), unit: "ms" },
        beside: {
          value: Math.min(...results.bare),
          unit: "ms",
          name: "bare bubblewrap, same options, and two fdatasync",
        },
        ratio: ratioOf(results.ours, results.bare),
        bar: { of: "ratio", limit: "at most", value: 1.35 },
        picture: "`true` in a fresh sandbox, beside bare bubblewrap",
      },
      {
        what: "the same, beside another sandbox for agents",
        ours: { value: Math.min(...results.ours), unit: "ms" },
        beside: { value: Math.min(...results.other), unit: "ms", name: "@anthropic-ai/sandbox-runtime" },
        ratio: ratioOf(results.other, results.ours),
        bar: { of: "ratio", limit: "at least", value: 3 },
        picture: "how many times faster than sandbox-runtime",
      },
    ],
    raw: {
      "ours, p50 ms": results.ours,
      "bare bubblewrap and two fdatasync, p50 ms": results.bare,
      "sandbox-runtime, p50 ms": results.other,
    },
  };
};
