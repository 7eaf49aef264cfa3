import { join } from "node:path";
import { KernelError } from "@narthex/contracts";
import type { PreparedOperation } from "@narthex/kernel";
import { Mutex } from "../system/mutex.ts";
import { quotePath } from "./explain-fault.ts";
import { verifyNotAborted } from "./worker-pool.ts";

interface Waiting {
  readonly mutex: Mutex;
  /** Those who wait or are at work. */
  count: number;
}

/** Links that lead elsewhere while an append waits for its turn. */
const MAX_TRIES = 8;

/**
 * Lets appends to one file happen one after the other, whichever session they come from. Each reads the file's end and
 * replaces the file, so two at once would take the other for an unexpected change, and fail.
 */
export class AppendQueue {
  readonly #files = new Map<string, Waiting>();

  /**
   * Prepares an append once its turn has come; its turn ends with the commit, or when it is abandoned. The turn is that of the
   * real file: where the path turns out to lead elsewhere, it waits there instead, and never for two at once.
   */
  async prepare(
    place: { readonly workspace: string; readonly path: string },
    prepareNow: () => Promise<PreparedOperation>,
    signal: AbortSignal,
  ): Promise<PreparedOperation> {
    let { path } = place;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const leave = await this.#enter(join(place.workspace, path), signal);
      const turn = new Turn(leave, signal);
      try {
        const prepared = await prepareNow();
        const [opened = path] = prepared.opened;
        if (opened === path) return turn.over(prepared);
        await prepared.abandon();
        path = opened;
      } catch (fault) {
        turn.end();
        throw fault;
      }
      turn.end();
    }
    throw new KernelError("EXECUTION_FAILED", `${quotePath(place.path)}: it is being replaced all the time`, {
      changedNothing: true,
    });
  }

  async #enter(file: string, signal: AbortSignal): Promise<() => void> {
    verifyNotAborted(signal);
    const waiting = this.#files.get(file) ?? { mutex: new Mutex(), count: 0 };
    this.#files.set(file, waiting);
    waiting.count++;
    const forget = (): void => {
      if (--waiting.count === 0) this.#files.delete(file);
    };
    try {
      const leave = await waiting.mutex.acquire(signal);
      return () => {
        leave();
        forget();
      };
    } catch (fault) {
      forget();
      verifyNotAborted(signal);
      throw fault;
    }
  }
}

/** One append's turn at its file. A call that ends without a word gives it up too. */
class Turn {
  readonly #leave: () => void;
  readonly #signal: AbortSignal;
  readonly #onAbort = (): void => {
    if (!this.#isCommitting) this.end();
  };
  #isCommitting = false;
  #hasEnded = false;

  constructor(leave: () => void, signal: AbortSignal) {
    this.#leave = leave;
    this.#signal = signal;
    signal.addEventListener("abort", this.#onAbort, { once: true });
    if (signal.aborted) this.end();
  }

  over(prepared: PreparedOperation): PreparedOperation {
    return {
      ...prepared,
      commit: async () => {
        this.#isCommitting = true;
        return await prepared.commit().finally(() => this.end());
      },
      abandon: () => prepared.abandon().finally(() => this.end()),
    };
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#leave();
  }
}
