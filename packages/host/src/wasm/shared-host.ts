import { KernelError } from "@narthex/contracts";
import type { HandleHostCall, WasmCall, WasmEnd } from "@narthex/kernel";
import { WASM_PAGE_BYTES } from "@narthex/kernel";
import { type HostProgram, type HostRun, type LoadOutcome, NEVER_RUN, WasmHostProcess } from "./wasm-host-process.ts";
import type { LoadOptions } from "./worker/messages.ts";

export interface SharedHostBounds {
  /** Maximum number of calls that one host runs at a time. */
  readonly maxThreads: number;
  /** Maximum total memory of the modules of these calls. */
  readonly maxMemoryBytes: number;
  /** Maximum number of waiting calls. */
  readonly maxWaiting: number;
  /** A host is replaced after this many calls, once it is idle. */
  readonly callsPerHost: number;
  readonly loadMs: number;
}

interface Waiting {
  readonly memoryBytes: number;
  resolve(): void;
  reject(fault: KernelError): void;
}

const START_MS = 30_000;

/** Queues the calls of one place, and owns the host that they share. */
export class SharedHost {
  readonly #start: () => Promise<HostProgram>;
  readonly #bounds: SharedHostBounds;
  readonly #waiting = new Set<Waiting>();
  readonly #loading = new Map<string, Promise<LoadOutcome>>();
  /** Number of calls that hold this host, waiting or running. */
  held = 0;
  #host: WasmHostProcess | undefined;
  #starting: Promise<WasmHostProcess> | undefined;
  #running = 0;
  #memoryBytes = 0;
  #closedBy: KernelError | undefined;

  constructor(start: () => Promise<HostProgram>, bounds: SharedHostBounds) {
    this.#start = start;
    this.#bounds = bounds;
  }

  get isIdle(): boolean {
    return this.held === 0 && this.#running === 0 && this.#waiting.size === 0;
  }

  async run(call: WasmCall, answer: HandleHostCall, signal: AbortSignal): Promise<WasmEnd> {
    const { memoryBytes } = call.limits;
    if (!(await this.#take(memoryBytes, signal))) return NEVER_RUN;
    try {
      const host = await this.#liveHost();
      const job = { key: keyOf(call), fuel: call.limits.fuel, cpuMs: call.limits.cpuMs, input: call.input };
      return (await host.run(job, answer, signal)) ?? (await this.#loadAndRun(host, call, job, answer, signal));
    } finally {
      this.#giveBack(memoryBytes);
    }
  }

  /** Loads a module and runs it. Only the first of several concurrent callers is charged for loading. */
  async #loadAndRun(
    host: WasmHostProcess,
    call: WasmCall,
    job: HostRun,
    answer: HandleHostCall,
    signal: AbortSignal,
  ): Promise<WasmEnd> {
    const isFirst = !this.#loading.has(job.key);
    const startedMs = performance.now();
    const outcome = await unlessAborted(this.#load(host, call), signal);
    const elapsedMs = Math.ceil(performance.now() - startedMs);
    const loadMs = isFirst ? (outcome?.cpuMs ?? elapsedMs) : 0;
    const ended = outcome?.taken === true ? await host.run(job, answer, signal) : unloaded(outcome);
    if (ended === undefined) throw new KernelError("SANDBOX_ERROR", "the wasm host has lost a module");
    return { ...ended, usage: { ...ended.usage, cpuMs: ended.usage.cpuMs + loadMs } };
  }

  /** Loads a module without running it. */
  async load(key: string, bytes: Uint8Array, options: LoadOptions): Promise<LoadOutcome> {
    const host = await this.#liveHost();
    return await host.load(key, bytes, options, this.#bounds.loadMs);
  }

  /** Ends the host and rejects waiting and running calls with the fault. Resolves when all its processes have ended. */
  async close(fault: KernelError): Promise<void> {
    this.#closedBy ??= fault;
    for (const waiting of this.#waiting) waiting.reject(fault);
    this.#waiting.clear();
    await this.#endHost(fault);
  }

  async #endHost(fault: KernelError): Promise<void> {
    await this.#starting?.catch(() => undefined);
    this.#host?.fail(fault);
    await this.#host?.ended;
  }

  #liveHost(): WasmHostProcess | Promise<WasmHostProcess> {
    if (this.#closedBy !== undefined) throw this.#closedBy;
    const isWorn = (this.#host?.calls ?? 0) >= this.#bounds.callsPerHost && this.#running === 1;
    if (this.#host?.isAlive === true && !isWorn) return this.#host;
    this.#starting ??= this.#startHost().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  async #startHost(): Promise<WasmHostProcess> {
    this.#host?.fail(new KernelError("SANDBOX_ERROR", "it has done enough"));
    this.#loading.clear();
    const host = new WasmHostProcess(await this.#start());
    this.#host = host;
    await host.untilReady(START_MS);
    return host;
  }

  /** Loads a module once for all concurrent calls. */
  #load(host: WasmHostProcess, call: WasmCall): Promise<LoadOutcome> {
    const key = keyOf(call);
    const known = this.#loading.get(key);
    if (known !== undefined) return known;
    const loading = (async () =>
      await host.load(key, await call.module.read(), optionsOf(call), this.#bounds.loadMs))();
    this.#loading.set(key, loading);
    const forget = (): void => void this.#loading.delete(key);
    loading.then(forget, forget);
    return loading;
  }

  /** Waits for a free slot. Returns false if the call was cancelled. */
  async #take(memoryBytes: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.#closedBy !== undefined) throw this.#closedBy;
    if (this.#waiting.size === 0 && this.#hasRoom(memoryBytes)) {
      this.#enter(memoryBytes);
      return true;
    }
    if (this.#waiting.size >= this.#bounds.maxWaiting) {
      const message = `more than ${this.#bounds.maxWaiting} calls of modules wait; call again`;
      throw new KernelError("RESOURCE_EXCEEDED", message);
    }
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const waiting: Waiting = { memoryBytes, resolve: () => resolve(true), reject };
    const onAbort = (): void => {
      if (this.#waiting.delete(waiting)) resolve(false);
    };
    this.#waiting.add(waiting);
    signal.addEventListener("abort", onAbort, { once: true });
    return await promise.finally(() => signal.removeEventListener("abort", onAbort));
  }

  #giveBack(memoryBytes: number): void {
    this.#running--;
    this.#memoryBytes -= memoryBytes;
    for (const next of this.#waiting) {
      if (!this.#hasRoom(next.memoryBytes)) return;
      this.#waiting.delete(next);
      this.#enter(next.memoryBytes);
      next.resolve();
    }
  }

  /** A single call always fits, whatever memory it asks for. */
  #hasRoom(memoryBytes: number): boolean {
    const { maxThreads, maxMemoryBytes } = this.#bounds;
    return this.#running === 0 || (this.#running < maxThreads && this.#memoryBytes + memoryBytes <= maxMemoryBytes);
  }

  #enter(memoryBytes: number): void {
    this.#running++;
    this.#memoryBytes += memoryBytes;
  }
}

/** An undefined outcome means that the call was cancelled while loading. */
function unloaded(outcome: Extract<LoadOutcome, { taken: false }> | undefined): WasmEnd {
  if (outcome === undefined) return NEVER_RUN;
  const { reason, message } = outcome;
  return { ...NEVER_RUN, ending: { kind: "rejected", reason, message } };
}

/** INVARIANT: the key covers every input of the compiled code; the meter is part of the host. */
function keyOf({ module, ...call }: WasmCall): string {
  const { memoryPages, allowsSimd } = optionsOf(call);
  return `${module.hash}-${memoryPages}-${allowsSimd ? "simd" : "plain"}`;
}

function optionsOf({ limits, allowsSimd }: Pick<WasmCall, "limits" | "allowsSimd">): LoadOptions {
  return { memoryPages: Math.floor(limits.memoryBytes / WASM_PAGE_BYTES), allowsSimd };
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const onAbort = (): void => resolve(undefined);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
