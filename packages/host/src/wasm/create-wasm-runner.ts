import { availableParallelism } from "node:os";
import { KernelError } from "@narthex/contracts";
import {
  type HandleHostCall,
  WASM_MEMORY_CEILING,
  type WasmCall,
  type WasmEnd,
  type WasmRunner,
} from "@narthex/kernel";
import type { Containment } from "../sandbox/open-containment.ts";
import { SharedHost, type SharedHostBounds } from "./shared-host.ts";
import { startWasmHost } from "./start-wasm-host.ts";
import { type HostProgram, NEVER_RUN } from "./wasm-host-process.ts";

export interface WasmRunnerParts {
  readonly containment: () => Promise<Containment>;
  readonly bounds?: Partial<RunnerBounds>;
  /** Replaces the host process; for tests. */
  readonly start?: () => Promise<HostProgram>;
}

export interface RunnerBounds extends SharedHostBounds {
  /** Maximum number of concurrent hosts; each needs some tens of megabytes. */
  readonly maxHosts: number;
  readonly idleMs: number;
}

export type ClosableWasmRunner = WasmRunner & { close(): Promise<void> };

const BOUNDS: RunnerBounds = {
  maxThreads: Math.max(2, Math.min(8, availableParallelism())),
  maxMemoryBytes: WASM_MEMORY_CEILING,
  maxWaiting: 10_000,
  callsPerHost: 100_000,
  loadMs: 30_000,
  maxHosts: 8,
  idleMs: 60_000,
};

/** Creates a runner for modules in sandboxed hosts, one for each place, which are started on demand. */
export function createWasmRunner(parts: WasmRunnerParts): ClosableWasmRunner {
  return new PlacedRunner(parts);
}

class PlacedRunner implements ClosableWasmRunner {
  readonly #start: () => Promise<HostProgram>;
  readonly #bounds: RunnerBounds;
  /** The most recently used one last. */
  readonly #places = new Map<string, SharedHost>();
  readonly #timers = new Map<SharedHost, NodeJS.Timeout>();
  readonly #ending = new Set<Promise<void>>();
  #wake: (() => void)[] = [];
  #isClosed = false;

  constructor({ containment, bounds, start }: WasmRunnerParts) {
    this.#start = start ?? (async () => await startWasmHost(await containment()));
    this.#bounds = { ...BOUNDS, ...bounds };
  }

  async run(call: WasmCall, answer: HandleHostCall, signal: AbortSignal): Promise<WasmEnd> {
    const place = await this.#placeFor(call.place, signal);
    if (place === undefined) return NEVER_RUN;
    try {
      return await place.run(call, answer, signal);
    } finally {
      place.held--;
      this.#rest(call.place, place);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wakeAll();
    for (const [name, place] of this.#places) this.#end(name, place, closed());
    await Promise.all(this.#ending);
  }

  async #placeFor(name: string, signal: AbortSignal): Promise<SharedHost | undefined> {
    for (;;) {
      if (this.#isClosed) throw closed();
      if (signal.aborted) return undefined;
      const known = this.#places.get(name) ?? (this.#makeRoom() ? this.#open() : undefined);
      if (known !== undefined) {
        known.held++;
        this.#places.delete(name);
        this.#places.set(name, known);
        clearTimeout(this.#timers.get(known));
        return known;
      }
      await this.#untilSomeRest(signal);
    }
  }

  #open(): SharedHost {
    return new SharedHost(this.#start, this.#bounds);
  }

  /** Ends the least recently used idle host if there are too many. */
  #makeRoom(): boolean {
    if (this.#places.size < this.#bounds.maxHosts) return true;
    const idle = [...this.#places].find(([, place]) => place.isIdle);
    if (idle === undefined) return false;
    this.#end(...idle, unneeded());
    return true;
  }

  #rest(name: string, place: SharedHost): void {
    if (!place.isIdle || this.#places.get(name) !== place) return;
    clearTimeout(this.#timers.get(place));
    const end = (): void => this.#end(name, place, unneeded());
    this.#timers.set(place, setTimeout(end, this.#bounds.idleMs).unref());
    this.#wakeAll();
  }

  #end(name: string, place: SharedHost, fault: KernelError): void {
    this.#places.delete(name);
    clearTimeout(this.#timers.get(place));
    this.#timers.delete(place);
    const ending = place.close(fault);
    this.#ending.add(ending);
    void ending.finally(() => this.#ending.delete(ending));
  }

  async #untilSomeRest(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake.push(resolve);
    signal.addEventListener("abort", () => resolve(), { once: true });
    await promise;
  }

  #wakeAll(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const wake of waiting) wake();
  }
}

function closed(): KernelError {
  return new KernelError("CANCELLED", "the wasm runner is being closed");
}

function unneeded(): KernelError {
  return new KernelError("SANDBOX_ERROR", "nobody needs it");
}
