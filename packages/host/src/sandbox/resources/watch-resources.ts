import type { SandboxedProcess } from "../spawn-sandbox.ts";
import type { ControlGroup, TotalLimits } from "./control-groups.ts";
import { TreeCpuTime } from "./tree-cpu-time.ts";

/** A limit that a sandbox ran into. */
export interface ExceededLimit {
  readonly limit: "memory" | "processes" | "cpu";
  readonly allowed: number;
  readonly peak: number;
}

export interface ResourceWatch {
  /**
   * What was exceeded, if anything was. To be asked once the sandbox has ended. `atLeastMs` is the time after which the
   * operating system ended one of its processes: it counts by ticks what a control group counts to the nanosecond, and
   * may come to its limit earlier.
   */
  finish(atLeastMs?: number): Promise<ExceededLimit | undefined>;
  readonly peakMemoryBytes: number;
  readonly processor: CpuWatch;
}

/** Time on the processor that a sandbox has used. */
export interface CpuWatch {
  /**
   * Of all its processes, as it was last looked at; once the sandbox has ended, in all. A control group counts it
   * exactly; without one it is what was seen ten times a second, which is less than was used: see `TreeTime`.
   */
  readonly cpuMs: number;
  /** The same as it is now. */
  read(): Promise<number>;
  /** From now on asked at every look; the sandbox is ended for what it answers. */
  setCheck(judge: CpuLimitCheck | undefined): void;
}

/** Says whether a sandbox has used more than it may. */
export type CpuLimitCheck = (cpuMs: number) => ExceededLimit | undefined;

const WATCH_MS = 100;

/**
 * Watches a sandbox's totals. With a control group the operating system enforces those of memory and processes, and this
 * only ends what is left after a process was killed; without one the whole tree is measured ten times a second. Time on
 * the processor is counted for nobody who does not ask, until the end.
 */
export function watchResources(
  process: SandboxedProcess,
  limits: TotalLimits,
  group: ControlGroup | undefined,
): ResourceWatch {
  let peak = 0;
  let counted: number | undefined;
  let exceeded: ExceededLimit | undefined;
  let looking: Promise<void> | undefined;
  let judge: CpuLimitCheck | undefined;
  const tree = new TreeCpuTime();

  const cpuMs = (): number => counted ?? tree.cpuMs;

  async function look(pid: number): Promise<void> {
    if (group?.countsTime !== true || judge !== undefined) await count(pid);
    if (group !== undefined && (await group.ranOutOfMemory())) await endForMemory();
    const tooMuch = judge?.(cpuMs());
    if (tooMuch !== undefined) endFor(tooMuch);
  }

  async function count(pid: number): Promise<void> {
    counted = (await group?.cpuMs()) ?? counted;
    if (counted !== undefined) return;
    const { residentBytes } = await tree.sample(pid);
    // Where there is a group, it holds the limit of memory.
    if (group !== undefined) return;
    peak = Math.max(peak, residentBytes);
    if (residentBytes > limits.memoryBytes) await endForMemory();
  }

  async function endForMemory(): Promise<void> {
    peak = Math.max(peak, (await group?.peakMemoryBytes()) ?? 0);
    endFor({ limit: "memory", allowed: limits.memoryBytes, peak });
  }

  function endFor(limit: ExceededLimit): void {
    exceeded ??= limit;
    process.kill();
  }

  function lookNow(): Promise<void> {
    looking ??= process.pid
      .then(look)
      .catch(() => undefined)
      .finally(() => {
        looking = undefined;
      });
    return looking;
  }

  const timer = setInterval(() => void lookNow(), WATCH_MS);
  timer.unref();

  return {
    get peakMemoryBytes() {
      return peak;
    },
    processor: {
      get cpuMs() {
        return cpuMs();
      },
      async read() {
        await process.pid.then(count).catch(() => undefined);
        return cpuMs();
      },
      setCheck(asked) {
        judge = asked;
      },
    },
    async finish(atLeastMs = 0) {
      clearInterval(timer);
      await looking;
      if (group === undefined) {
        counted = Math.max(cpuMs(), atLeastMs);
        return exceeded;
      }
      const [outOfMemory, outOfProcesses, used] = await Promise.all([
        group.ranOutOfMemory(),
        group.ranOutOfProcesses(),
        group.cpuMs(),
      ]);
      counted = Math.max(used ?? cpuMs(), atLeastMs);
      if (exceeded !== undefined) return { ...exceeded, ...(exceeded.limit === "cpu" && { peak: cpuMs() }) };
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
