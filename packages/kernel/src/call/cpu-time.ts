import { KernelError } from "@narthex/contracts";
import type { ExceededCpuTime, CpuAllowance } from "../sandboxed-programs.ts";

/** One program's share of its call's CPU time. */
export interface CpuShare {
  /** The limit for its sandbox; undefined if none exists. */
  readonly allowance: CpuAllowance | undefined;
  /** Ends the share when the program has ended. Without a figure, the last measured use counts. */
  end(cpuMs?: number): void;
  /** Detaches a program that continues after the call, which no longer pays for it. */
  detach(): void;
}

/** A program that continues after its call. */
export interface BackgroundProgram {
  /** Undefined if there is no limit. */
  readonly limitMs: number | undefined;
  readonly ended: Promise<{ readonly cpuMs: number }>;
}

interface Running {
  readonly limitMs: number;
  cpuMs: number;
}

/**
 * CPU time that the programs of one call use together, and its limit.
 *
 * INVARIANT: no program is started once they have used it up, and one that runs is ended at the next measurement after
 * that. Measurements are 100 ms apart, so a call overspends by what its processes use in that time on all cores; the
 * operating system also limits each single process, to the second.
 */
export class CpuTime {
  readonly #allowedMs: number;
  readonly #running = new Set<Running>();
  #endedMs = 0;
  /** Set aside for programs that continue after the call. */
  #leftMs = 0;

  /** `allowedMs` is infinite if there is no limit. */
  constructor(allowedMs: number) {
    this.#allowedMs = allowedMs;
  }

  /** Starts a program's share. Throws RESOURCE_EXCEEDED if nothing is left. `askedMs` is the program's own limit. */
  start(askedMs = Number.POSITIVE_INFINITY): CpuShare {
    const restMs = this.#allowedMs - this.#usedMs() - this.#leftMs;
    if (restMs <= 0) {
      const message = `cpu: at most ${this.#allowedMs} ms, and it came to ${this.#usedMs()} ms`;
      throw new KernelError("RESOURCE_EXCEEDED", message);
    }
    const limitMs = Math.min(restMs, askedMs);
    const running: Running = { limitMs, cpuMs: 0 };
    this.#running.add(running);
    const judge = (cpuMs: number): ExceededCpuTime | undefined => this.#judge(running, cpuMs);
    return {
      allowance: limitMs === Number.POSITIVE_INFINITY ? undefined : { limitMs, check: judge },
      end: (cpuMs = 0) => {
        running.cpuMs = Math.max(running.cpuMs, cpuMs);
        if (this.#running.delete(running)) this.#endedMs += running.cpuMs;
      },
      detach: () => {
        if (this.#running.delete(running) && Number.isFinite(limitMs)) this.#leftMs += limitMs;
      },
    };
  }

  /** Returns the CPU time to charge. A program whose use is not known yet is assumed to use everything it may. */
  settle(): number {
    const isKnown = this.#running.size === 0 || this.#allowedMs === Number.POSITIVE_INFINITY;
    return isKnown ? this.#usedMs() : Math.max(this.#usedMs(), this.#allowedMs - this.#leftMs);
  }

  /** Checks the program's own limit and, while the call lasts, that of all its programs together. */
  #judge(running: Running, cpuMs: number): ExceededCpuTime | undefined {
    running.cpuMs = Math.max(running.cpuMs, cpuMs);
    const { limitMs } = running;
    if (running.cpuMs > limitMs) return { limit: "cpu", allowed: limitMs, peak: running.cpuMs };
    const peak = this.#usedMs();
    if (!this.#running.has(running) || peak <= this.#allowedMs) return undefined;
    return { limit: "cpu", allowed: this.#allowedMs, peak };
  }

  #usedMs(): number {
    let used = this.#endedMs;
    for (const { cpuMs } of this.#running) used += cpuMs;
    return used;
  }
}
