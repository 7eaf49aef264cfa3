import type { SandboxedProcess } from "../spawn-sandbox.ts";
import type { ControlGroup, TotalLimits } from "./control-groups.ts";
import { measureTree } from "./process-tree.ts";

/** A limit that a sandbox ran into. */
export interface ExceededLimit {
  readonly limit: "memory" | "processes" | "cpu";
  readonly allowed: number;
  readonly peak: number;
}

export interface ResourceWatch {
  /** What was exceeded, if anything was. To be asked once the sandbox has ended. */
  finish(): Promise<ExceededLimit | undefined>;
  readonly peakMemoryBytes: number;
}

const WATCH_MS = 100;

/**
 * Watches a sandbox's totals. With a control group the operating system enforces them, and this only ends what is left
 * after a process was killed; without one the memory of the whole tree is measured ten times a second.
 */
export function watchResources(
  process: SandboxedProcess,
  limits: TotalLimits,
  group: ControlGroup | undefined,
): ResourceWatch {
  let peak = 0;
  let exceeded: ExceededLimit | undefined;
  let looking: Promise<void> | undefined;

  async function look(pid: number): Promise<void> {
    if (group !== undefined) {
      if (await group.ranOutOfMemory()) await endFor("memory");
      return;
    }
    const { residentBytes } = await measureTree(pid);
    peak = Math.max(peak, residentBytes);
    if (residentBytes > limits.memoryBytes) await endFor("memory");
  }

  async function endFor(limit: "memory"): Promise<void> {
    peak = Math.max(peak, (await group?.peakMemoryBytes()) ?? 0);
    exceeded ??= { limit, allowed: limits.memoryBytes, peak };
    process.kill();
  }

  const timer = setInterval(() => {
    looking ??= process.pid
      .then(look)
      .catch(() => undefined)
      .finally(() => {
        looking = undefined;
      });
  }, WATCH_MS);
  timer.unref();

  return {
    get peakMemoryBytes() {
      return peak;
    },
    async finish() {
      clearInterval(timer);
      await looking;
      if (group === undefined || exceeded !== undefined) return exceeded;
      const [outOfMemory, outOfProcesses] = await Promise.all([group.ranOutOfMemory(), group.ranOutOfProcesses()]);
      if (outOfMemory) {
        peak = Math.max(peak, (await group.peakMemoryBytes()) ?? 0);
        exceeded = { limit: "memory", allowed: limits.memoryBytes, peak };
      } else if (outOfProcesses) {
        exceeded = { limit: "processes", allowed: limits.processes, peak: limits.processes };
      }
      return exceeded;
    },
  };
}
