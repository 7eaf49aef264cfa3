import type { SandboxedProcess } from "../spawn-sandbox.ts";
import type { ControlGroup, TotalLimits } from "./control-groups.ts";
import { TreeCpuTime } from "./tree-cpu-time.ts";

/** A limit that a sandbox exceeded. */
export interface ExceededLimit {
  readonly limit: "memory" | "processes" | "cpu";
  readonly allowed: number;
  readonly peak: number;
}

export interface ResourceWatch {
  /**
   * Returns the limit that was exceeded, if any. Call it once the sandbox has ended. `atLeastMs` is the CPU time after
   * which the operating system stopped one of its processes: that limit counts in ticks, a control group in
   * nanoseconds, so the limit may be reached slightly earlier than the group shows.
   */
  finish(atLeastMs?: number): Promise<ExceededLimit | undefined>;
  readonly peakMemoryBytes: number;
  readonly processor: CpuWatch;
}

/** CPU time that a sandbox has used. */
export interface CpuWatch {
  /**
   * Of all processes, as of the last sample; the total once the sandbox has ended. A control group counts exactly;
   * without one it is sampled ten times a second, which gives less than the real usage: see `TreeCpuTime`.
   */
  readonly cpuMs: number;
  /** Reads the current value. */
  read(): Promise<number>;
  /** Sets a check that is called at every sample; if it returns a limit, the sandbox is ended. */
  setCheck(judge: CpuLimitCheck | undefined): void;
}

/** Checks whether a sandbox has used more CPU time than allowed. */
export type CpuLimitCheck = (cpuMs: number) => ExceededLimit | undefined;

const WATCH_MS = 100;

/**
 * Watches the total usage of a sandbox. With a control group the operating system enforces memory and process limits,
 * and this only ends what remains after a process was killed; without one the whole tree is measured ten times a
 * second. If a group counts CPU time, it is read during the run only when a check is set.
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
    // A control group enforces the memory limit itself.
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
