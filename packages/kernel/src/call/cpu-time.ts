import { KernelError } from "@narthex/contracts";
import type { ExceededCpuTime, CpuAllowance } from "../sandboxed-programs.ts";

/** One program's part in the time of its call. */
export interface CpuShare {
  /** What its sandbox is told; undefined if nothing limits it. */
  readonly allowance: CpuAllowance | undefined;
  /** It has ended. Without a figure, what it was last seen to have used counts. */
  end(cpuMs?: number): void;
  /** It goes on after the call, which pays for it no more. */
  detach(): void;
}

/** A program that goes on after its call. */
export interface BackgroundProgram {
  /** Undefined if nothing limits it. */
  readonly limitMs: number | undefined;
  readonly ended: Promise<{ readonly cpuMs: number }>;
}

interface Running {
  readonly limitMs: number;
  cpuMs: number;
}

/**
 * Time on the processor that the programs of one call use together, and may use at most.
 *
 * INVARIANT: no program is started once they have used it up, and one that runs is ended at the next look after that.
 * Looks are 100 ms apart, so a call overspends by what its processes use meanwhile on all cores; of each single process
 * the operating system takes care as well, to the second.
 */
export class CpuTime {
  readonly #allowedMs: number;
  readonly #running = new Set<Running>();
  #endedMs = 0;
  /** Set aside for what goes on after the call. */
  #leftMs = 0;

  /** Infinity if nothing limits it. */
  constructor(allowedMs: number) {
    this.#allowedMs = allowedMs;
  }

  /** Throws RESOURCE_EXCEEDED if nothing is left. `askedMs` is the program's own limit. */
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

  /** What the call is charged for. A program of which nobody knows yet what it used is taken to use all it may. */
  settle(): number {
    const isKnown = this.#running.size === 0 || this.#allowedMs === Number.POSITIVE_INFINITY;
    return isKnown ? this.#usedMs() : Math.max(this.#usedMs(), this.#allowedMs - this.#leftMs);
  }

  /** Its own limit, and, while the call lasts, that of all its programs together. */
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
