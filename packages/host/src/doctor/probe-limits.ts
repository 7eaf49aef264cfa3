import type { Containment } from "../sandbox/open-containment.ts";
import type { SandboxIdentity } from "../sandbox/sandbox-plan.ts";
import type { Mechanism } from "./host-report.ts";
import { type StartProgram, runProbe } from "./run-probe.ts";

export interface LimitProbeOptions {
  readonly containment: Containment;
  /** Starts programs without control groups. */
  readonly startWatched: StartProgram;
  readonly identity: SandboxIdentity;
}

const MB = 1024 * 1024;
const DELEGATION =
  "to have totals enforced by the system, run the kernel in a delegated control group (--fix shows how)";

/** Runs programs that exceed their limits. */
export async function probeLimits(trials: LimitProbeOptions): Promise<Mechanism[]> {
  return [
    await probeProcessLimits(trials),
    await probeControlGroups(trials),
    await probeWatchdog(trials),
    await probeKill(trials),
  ];
}

async function probeProcessLimits({ containment, identity }: LimitProbeOptions): Promise<Mechanism> {
  const plan = { identity, limits: { fileBytes: MB } };
  const { output } = await runProbe(containment.start, plan, "head -c 2097152 /dev/zero > file; wc -c < file");
  const holds = output === String(MB);
  return {
    name: "process limits",
    state: holds ? "holds" : "fails",
    how: "a file written beyond its limit inside",
    found: holds ? "cut off at 1 MB" : output,
    advice: holds ? undefined : "apt-get install util-linux",
  };
}

async function probeControlGroups({ containment, identity }: LimitProbeOptions): Promise<Mechanism> {
  const base = { name: "control groups", how: "three processes inside that together take too much memory" };
  if (containment.controlGroups === undefined) {
    return { ...base, state: "fails", found: "this process may not make any", advice: DELEGATION };
  }
  const ended = await exceedMemoryTotal(containment.start, identity);
  return {
    ...base,
    state: ended ? "holds" : "fails",
    found: ended ? `ended by version ${containment.controlGroups}` : "they were not ended",
    advice: ended ? undefined : DELEGATION,
  };
}

async function probeWatchdog({ startWatched, identity }: LimitProbeOptions): Promise<Mechanism> {
  const ended = await exceedMemoryTotal(startWatched, identity);
  return {
    name: "watchdog",
    state: ended ? "holds" : "fails",
    how: "the same without control groups",
    found: ended ? "ended by the watchdog" : "they were not ended",
    advice: ended ? undefined : "mount /proc without hidepid, so that the memory of programs can be seen",
  };
}

/** Each process stays within its own limit; together they exceed the total. */
async function exceedMemoryTotal(start: StartProgram, identity: SandboxIdentity): Promise<boolean> {
  const hold = "(head -c 24000000 /dev/zero; sleep 15) | tail >/dev/null";
  const plan = { identity, limits: { memoryBytes: 48 * MB } };
  const { end } = await runProbe(start, plan, `${hold} & ${hold} & ${hold} & wait`);
  return end?.exceeded?.limit === "memory";
}

async function probeKill({ containment, identity }: LimitProbeOptions): Promise<Mechanism> {
  // If the last of these survived, it would keep the output open and the probe would not end.
  const { end } = await runProbe(containment.start, { identity }, "sleep 1000 & setsid sleep 1000 & exit 3");
  const holds = end?.exitCode === 3;
  return {
    name: "no process left",
    state: holds ? "holds" : "fails",
    how: "a program that leaves two processes behind",
    found: holds ? "ended with it" : "they lived on",
    advice: holds ? undefined : "report this as a fault, with the version of bubblewrap",
  };
}
