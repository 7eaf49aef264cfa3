import { Worker } from "node:worker_threads";
import type { ReaderResponse, ReaderCall, ReaderData, ReaderMethods } from "./reader-messages.ts";
import type { MethodResult, Reader } from "./reader.ts";
import { threadUrl } from "./thread-url.ts";
import { unreadable } from "./unreadable.ts";

type Method = keyof ReaderMethods;

/** Sends queries to the reading thread and awaits its responses. A program may exit while no query is pending. */
export class ThreadReader implements Reader {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #lastId = 0;
  #problem: string | undefined;

  constructor(workerData: ReaderData, onFailure: (reason: string) => void) {
    this.#worker = new Worker(threadUrl("reader-thread", import.meta.url), {
      workerData,
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: 32 },
    });
    this.#worker.unref();
    this.#worker.on("message", (answer: ReaderResponse) => this.#take(answer));
    this.#worker.on("error", (error: unknown) => {
      const reason = `its reader failed: ${String(error)}`;
      this.#fail(reason);
      onFailure(reason);
    });
    this.#worker.on("exit", () => this.#fail("it is closed"));
  }

  ask<M extends Method>(method: M, ...args: Parameters<ReaderMethods[M]>): Promise<MethodResult<M>> {
    if (this.#problem !== undefined) return Promise.reject(unreadable(this.#problem));
    const id = ++this.#lastId;
    const answer = Promise.withResolvers<unknown>();
    this.#waiting.set(id, answer);
    if (this.#waiting.size === 1) this.#worker.ref();
    const call: ReaderCall = { id, method, args };
    this.#worker.postMessage(call);
    // The thread implements `ReaderMethods`, so a response has the type of its method.
    return answer.promise as Promise<MethodResult<M>>;
  }

  /** Use it for a store that could not be opened. */
  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #take(answer: ReaderResponse): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (this.#waiting.size === 0) this.#worker.unref();
    if ("reason" in answer) waiting?.reject(unreadable(answer.reason));
    else waiting?.resolve(answer.value);
  }

  #fail(reason: string): void {
    this.#problem ??= reason;
    const error = unreadable(this.#problem);
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
