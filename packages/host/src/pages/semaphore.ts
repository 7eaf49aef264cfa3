import { KernelError } from "@narthex/contracts";

interface Waiting {
  resolve(): void;
  reject(fault: KernelError): void;
}

/** Limits concurrency. Waiters proceed in order of arrival, and their number is limited too. */
export class Semaphore {
  readonly #most: number;
  readonly #mostWaiting: number;
  readonly #waiting = new Set<Waiting>();
  #taken = 0;
  #closedBy: KernelError | undefined;

  constructor(most: number, mostWaiting: number) {
    this.#most = most;
    this.#mostWaiting = mostWaiting;
  }

  /** Resolves when a slot is free. Each acquired slot must be released exactly once. */
  async acquire(signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw cancelled();
    if (this.#closedBy !== undefined) throw this.#closedBy;
    if (this.#taken < this.#most) {
      this.#taken++;
      return;
    }
    if (this.#waiting.size >= this.#mostWaiting) {
      throw new KernelError("RESOURCE_EXCEEDED", `more than ${this.#mostWaiting} pages wait to be read; call again`);
    }
    await this.#wait(signal);
  }

  release(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#taken--;
    else {
      this.#waiting.delete(next);
      next.resolve();
    }
  }

  /** Rejects all current and future waiters with the fault. */
  close(fault: KernelError): void {
    this.#closedBy ??= fault;
    for (const waiting of this.#waiting) waiting.reject(fault);
    this.#waiting.clear();
  }

  async #wait(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = { resolve, reject };
    const onAbort = (): void => {
      if (this.#waiting.delete(waiting)) reject(cancelled());
    };
    this.#waiting.add(waiting);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }
}

function cancelled(): KernelError {
  return new KernelError("CANCELLED", "the page is not wanted any more");
}
