import type { ControlGroup, ControlGroups, TotalLimits } from "./resources/control-groups.ts";
import { type ExceededLimit, type CpuWatch, watchResources } from "./resources/watch-resources.ts";
import type { SandboxFiles, SandboxMachine } from "./sandbox-machine.ts";
import { cpuSeconds, type SandboxPlan } from "./sandbox-plan.ts";
import { type BeforeRelease, type SandboxedProcess, spawnSandbox } from "./spawn-sandbox.ts";

/** A sandboxed program with limits on its total usage. */
export interface ContainedProgram extends Omit<SandboxedProcess, "ended"> {
  /** Resolves when it has ended. Rejects with SANDBOX_ERROR if the sandbox itself failed. */
  readonly ended: Promise<ProgramEnd>;
  /** Gives the CPU time even if the program was killed before it reported an exit code. */
  readonly processor: CpuWatch;
}

export interface ProgramEnd {
  /** Undefined if it was killed for a limit before it reported an exit code. */
  readonly exitCode: number | undefined;
  readonly exceeded: ExceededLimit | undefined;
  readonly peakMemoryBytes: number;
}

export interface ContainmentParts {
  readonly machine: SandboxMachine;
  readonly files: SandboxFiles;
  readonly groups: ControlGroups | undefined;
}

export async function startContained(
  { machine, files, groups }: ContainmentParts,
  plan: SandboxPlan,
  command: readonly string[],
  beforeRelease?: BeforeRelease,
): Promise<ContainedProgram> {
  const limits: TotalLimits = { memoryBytes: plan.limits.memoryBytes, processes: plan.limits.processes };
  const group = await groups?.create(limits);
  let started: SandboxedProcess;
  try {
    started = await spawnSandbox(machine, files, limitFor(plan, group), command, withGroup(group, beforeRelease));
  } catch (fault) {
    await group?.remove();
    throw fault;
  }
  const watch = watchResources(started, limits, group);

  async function finish(): Promise<ProgramEnd> {
    try {
      const outcome = await started.ended.catch((fault: unknown) => ({ exitCode: undefined, fault }));
      const isOutOfTime = outcome.exitCode === OUT_OF_TIME;
      const exceeded = await watch.finish(isOutOfTime ? cpuSeconds(plan.limits) * 1000 : 0);
      if ("fault" in outcome && exceeded === undefined) throw outcome.fault;
      if (exceeded === undefined && isOutOfTime) {
        // The limit applies to each process: the total may be higher, and without a control group it is not fully
        // known.
        return {
          exitCode: undefined,
          exceeded: { limit: "cpu", allowed: plan.limits.cpuMs, peak: watch.processor.cpuMs },
          peakMemoryBytes: watch.peakMemoryBytes,
        };
      }
      return { exitCode: outcome.exitCode, exceeded, peakMemoryBytes: watch.peakMemoryBytes };
    } finally {
      await group?.remove().catch(() => undefined);
    }
  }

  const ended = finish();
  ended.catch(() => undefined);
  return {
    stdin: started.stdin,
    stdout: started.stdout,
    stderr: started.stderr,
    channel: started.channel,
    pid: started.pid,
    ended,
    processor: watch.processor,
    kill: started.kill,
  };
}

function withGroup(group: ControlGroup | undefined, beforeRelease: BeforeRelease | undefined) {
  if (group === undefined || beforeRelease === undefined)
    return group ? (pid: number) => group.add(pid) : beforeRelease;
  return async (pid: number): Promise<void> => {
    await Promise.all([group.add(pid), beforeRelease(pid)]);
  };
}

/** 128 + SIGXCPU. */
const OUT_OF_TIME = 152;
const DATA_TIMES = 4;

/**
 * A control group counts memory that is really used, including memfd files, so a process may allocate more than the
 * limit. Without a group, only the limit of each process is enforced immediately.
 */
function limitFor(plan: SandboxPlan, group: ControlGroup | undefined): SandboxPlan {
  if (group === undefined) return plan;
  return {
    ...plan,
    countsAllMemory: true,
    limits: { ...plan.limits, dataBytes: DATA_TIMES * plan.limits.memoryBytes },
  };
}
