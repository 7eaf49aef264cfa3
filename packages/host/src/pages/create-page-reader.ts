import { KernelError } from "@narthex/contracts";
import type { FetchedPage, PageReader, PageText } from "@narthex/kernel";
import type { Containment } from "../sandbox/open-containment.ts";
import { type PageProcess, PageWorker } from "./page-worker-process.ts";
import { startPageWorker } from "./start-page-worker.ts";
import { Semaphore } from "./semaphore.ts";
import { MAX_PAGE_BYTES } from "./worker/messages.ts";

export interface PageReaderParts {
  readonly containment: () => Promise<Containment>;
  readonly bounds?: Partial<PageBounds>;
  /** Replaces the worker process; for tests. */
  readonly start?: () => Promise<PageProcess>;
}

export interface PageBounds {
  readonly maxWorkers: number;
  /** Maximum number of pages that wait for a worker. */
  readonly maxWaiting: number;
  /** Time limit for one page, counted from when a worker receives it. */
  readonly pageMs: number;
  /** A worker is replaced after it has read this many pages. */
  readonly pagesPerWorker: number;
  readonly idleMs: number;
}

export type ClosablePageReader = PageReader & { close(): Promise<void> };

const BOUNDS: PageBounds = {
  maxWorkers: 2,
  maxWaiting: 10_000,
  pageMs: 2000,
  pagesPerWorker: 200,
  idleMs: 30_000,
};
const START_MS = 30_000;

/**
 * Creates a reader that reads pages in sandboxed workers. Workers are started on demand.
 *
 * A waiting page is not copied: it stays in the caller's buffer until a worker is free.
 */
export function createPageReader(parts: PageReaderParts): ClosablePageReader {
  return new WorkerReader(parts);
}

class WorkerReader implements ClosablePageReader {
  readonly #start: () => Promise<PageProcess>;
  readonly #bounds: PageBounds;
  readonly #turns: Semaphore;
  /** Idle workers, the most recently used one last. */
  readonly #idle = new Map<PageWorker, NodeJS.Timeout>();
  readonly #running = new Set<PageWorker>();
  readonly #reading = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor({ containment, bounds, start }: PageReaderParts) {
    this.#bounds = { ...BOUNDS, ...bounds };
    this.#start = start ?? (async () => await startPageWorker(await containment()));
    this.#turns = new Semaphore(this.#bounds.maxWorkers, this.#bounds.maxWaiting);
  }

  async read(page: FetchedPage, signal: AbortSignal): Promise<PageText> {
    if (page.bytes.length > MAX_PAGE_BYTES) {
      throw new KernelError("RESOURCE_EXCEEDED", `the page is longer than ${MAX_PAGE_BYTES} bytes`);
    }
    await this.#turns.acquire(signal);
    const reading = this.#readInTurn(page, signal);
    this.#reading.add(reading);
    try {
      return await reading;
    } finally {
      this.#reading.delete(reading);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const fault = closed();
    this.#turns.close(fault);
    for (const worker of this.#running) worker.fail(fault);
    await Promise.allSettled(this.#reading);
    await Promise.all([...this.#running].map((worker) => worker.ended));
  }

  async #readInTurn(page: FetchedPage, signal: AbortSignal): Promise<PageText> {
    try {
      const worker = this.#takeIdle() ?? (await this.#startWorker());
      try {
        return await worker.read(page, this.#bounds.pageMs, signal);
      } finally {
        this.#keepOrEnd(worker);
        // Wait, so that no more than `maxWorkers` processes run at once.
        if (!worker.isAlive) await worker.ended;
      }
    } finally {
      this.#turns.release();
    }
  }

  #takeIdle(): PageWorker | undefined {
    for (const [worker, timer] of [...this.#idle].toReversed()) {
      this.#idle.delete(worker);
      clearTimeout(timer);
      if (worker.isAlive) return worker;
    }
    return undefined;
  }

  async #startWorker(): Promise<PageWorker> {
    const worker = new PageWorker(await this.#start());
    this.#running.add(worker);
    void worker.ended.then(() => this.#running.delete(worker));
    if (this.#isClosed) worker.fail(closed());
    await worker.untilReady(START_MS);
    return worker;
  }

  #keepOrEnd(worker: PageWorker): void {
    if (worker.pages >= this.#bounds.pagesPerWorker)
      worker.fail(new KernelError("SANDBOX_ERROR", "it has done enough"));
    if (!worker.isAlive) return;
    const end = (): void => {
      this.#idle.delete(worker);
      worker.fail(new KernelError("SANDBOX_ERROR", "nobody needs it"));
    };
    this.#idle.set(worker, setTimeout(end, this.#bounds.idleMs).unref());
  }
}

function closed(): KernelError {
  return new KernelError("CANCELLED", "the page reader is being closed");
}
