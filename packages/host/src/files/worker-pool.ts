import { KernelError } from "@narthex/contracts";
import type { FileWorker } from "./file-worker.ts";

/** A worker in use until it is released. */
export interface BorrowedWorker {
  readonly worker: FileWorker;
  release(): void;
}

export interface WorkerPoolOptions {
  readonly maxWorkers: number;
  /** Maximum number of operations of one worker at the same time. */
  readonly maxUsers: number;
  readonly idleMs: number;
}

export interface WorkerRequestKey {
  /** Workers are shared by key. */
  readonly key: string;
  /** Expected device and inode of the workspace. A worker with another version is not used. */
  readonly version: string;
  start(): Promise<FileWorker>;
}

interface Slot {
  readonly key: string;
  readonly version: string;
  readonly starting: Promise<FileWorker>;
  worker: FileWorker | undefined;
  users: number;
  idleTimer: NodeJS.Timeout | undefined;
}

/** A pool of workers. Each is started at its first use, and ended when it is idle or another worker needs its place. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  /** Workers that may be borrowed, least recently used first. */
  readonly #slots = new Map<string, Slot>();
  /** All running workers, including those that may no longer be borrowed. */
  readonly #running = new Set<Slot>();
  readonly #ending = new Set<Slot>();
  readonly #waiting = new Set<() => void>();
  #isClosed = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
  }

  get workers(): readonly FileWorker[] {
    return [...this.#running].flatMap(({ worker }) => (worker === undefined ? [] : [worker]));
  }

  async borrow(request: WorkerRequestKey, signal: AbortSignal): Promise<BorrowedWorker> {
    for (;;) {
      verifyNotAborted(signal);
      if (this.#isClosed) throw new KernelError("SANDBOX_ERROR", "the file workers are being closed");
      const slot = this.#findSlot(request) ?? this.#createSlot(request);
      if (slot === undefined || slot.users >= this.#options.maxUsers) {
        await this.#untilOneIsFree(signal);
        continue;
      }
      return await this.#use(slot, signal);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wake();
    await Promise.all([...this.#running].map((slot) => this.#end(slot)));
  }

  #findSlot({ key, version }: WorkerRequestKey): Slot | undefined {
    const slot = this.#slots.get(key);
    if (slot === undefined) return undefined;
    this.#slots.delete(key);
    if (slot.version === version && slot.worker?.isAlive !== false) {
      this.#slots.set(key, slot);
      return slot;
    }
    // Current users may finish with the files that they hold open.
    if (slot.users === 0) void this.#end(slot);
    return undefined;
  }

  #createSlot({ key, version, start }: WorkerRequestKey): Slot | undefined {
    if (this.#running.size >= this.#options.maxWorkers) {
      if (this.#running.size - this.#ending.size >= this.#options.maxWorkers) this.#makeRoom();
      return undefined;
    }
    const slot: Slot = { key, version, starting: start(), worker: undefined, users: 0, idleTimer: undefined };
    this.#slots.set(key, slot);
    this.#running.add(slot);
    slot.starting.then(
      (worker) => {
        slot.worker = worker;
        void worker.ended.then(() => this.#forget(slot));
      },
      () => this.#forget(slot),
    );
    return slot;
  }

  async #use(slot: Slot, signal: AbortSignal): Promise<BorrowedWorker> {
    clearTimeout(slot.idleTimer);
    slot.users++;
    let isReleased = false;
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      this.#release(slot);
    };
    try {
      return { worker: await raceWithSignal(slot.starting, signal), release };
    } catch (fault) {
      release();
      throw fault;
    }
  }

  #release(slot: Slot): void {
    slot.users--;
    this.#wake();
    if (slot.users > 0) return;
    if (this.#slots.get(slot.key) !== slot) void this.#end(slot);
    else {
      slot.idleTimer = setTimeout(() => void this.#end(slot), this.#options.idleMs);
      slot.idleTimer.unref();
    }
  }

  /** Ends the worker that was idle for the longest time, if any is idle. */
  #makeRoom(): void {
    const unused = [...this.#slots.values()].find(({ users }) => users === 0);
    if (unused !== undefined) void this.#end(unused);
  }

  async #end(slot: Slot): Promise<void> {
    if (!this.#running.has(slot)) return;
    clearTimeout(slot.idleTimer);
    if (this.#slots.get(slot.key) === slot) this.#slots.delete(slot.key);
    this.#ending.add(slot);
    try {
      const worker = await slot.starting;
      worker.fail(new KernelError("SANDBOX_ERROR", "the file worker was ended"));
      await worker.ended;
    } catch {
      // The worker never started.
    }
  }

  #forget(slot: Slot): void {
    clearTimeout(slot.idleTimer);
    if (this.#slots.get(slot.key) === slot) this.#slots.delete(slot.key);
    this.#running.delete(slot);
    this.#ending.delete(slot);
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  async #untilOneIsFree(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    try {
      await raceWithSignal(promise, signal);
    } finally {
      this.#waiting.delete(resolve);
    }
  }
}

export function verifyNotAborted(signal: AbortSignal): void {
  if (signal.aborted) throw cancelled();
}

/** Returns the result of the promise, or throws if the signal aborts first. */
export async function raceWithSignal<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  verifyNotAborted(signal);
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(cancelled());
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function cancelled(): KernelError {
  return new KernelError("CANCELLED", "the file operation was cancelled");
}
