import { join } from "node:path";
import { KernelError } from "@narthex/contracts";
import type { PreparedOperation } from "@narthex/kernel";
import { Mutex } from "../system/mutex.ts";
import { quotePath } from "./explain-fault.ts";
import { verifyNotAborted } from "./worker-pool.ts";

interface Waiting {
  readonly mutex: Mutex;
  /** Number of appends that wait or are running. */
  count: number;
}

/** How often a path may resolve to another file while an append waits for its turn. */
const MAX_TRIES = 8;

/**
 * Serializes appends to one file, across all sessions. Each append reads the end of the file and replaces the file, so
 * two at once would see each other as an unexpected change and fail.
 */
export class AppendQueue {
  readonly #files = new Map<string, Waiting>();

  /**
   * Prepares an append once its turn has come. The turn ends when the operation is committed or abandoned. Turns are
   * per real file: if the path resolves to another file, the append waits for that one instead, and never for two at
   * once.
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

/** The turn of one append at its file. It also ends when the call is cancelled before the commit. */
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
