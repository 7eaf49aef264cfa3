import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import { stackBytesFor } from "@narthex/meter";
import { MAX_DEPTH } from "./messages.ts";
import { ThreadGauge } from "./thread-gauge.ts";
import type { ThreadData } from "./thread-loop.ts";
import type { ThreadReply, ThreadRequest } from "./thread-messages.ts";

/** Heap limit of one thread, for modules and messages; the memory of module instances is not part of it. */
const HEAP_MB = 512;
/** Enough for the maximum call depth of a module. */
const STACK_MB = Math.ceil(stackBytesFor(MAX_DEPTH) / 2 ** 20);

/** Receives what happens in a thread that works on a job. */
export interface ThreadListener {
  onReply(reply: ThreadReply): void;
  /** The thread ended by itself: out of memory, or by a fault. */
  onEnd(): void;
}

/** The main thread's handle of one thread that runs modules. */
export class ThreadHandle {
  /** Keys of the modules that the thread has. */
  readonly known = new Set<string>();
  readonly gauge = new ThreadGauge();
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #bell: Int32Array;
  #listener: ThreadListener | undefined;
  #isEnded = false;

  constructor(program: URL, turn: Int32Array) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#bell = new Int32Array(new SharedArrayBuffer(4));
    const workerData: ThreadData = { port: port2, bell: this.#bell, turn, numbers: this.gauge.numbers };
    this.#worker = new Worker(program, {
      workerData,
      transferList: [port2],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, stackSizeMb: STACK_MB },
    });
    port1.on("message", (reply: ThreadReply) => this.#listener?.onReply(reply));
    this.#worker.on("error", () => undefined);
    this.#worker.on("exit", () => this.#end());
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  listen(listener: ThreadListener | undefined): void {
    this.#listener = listener;
  }

  post(request: ThreadRequest): void {
    this.#port.postMessage(request);
    Atomics.add(this.#bell, 0, 1);
    Atomics.notify(this.#bell, 0);
  }

  /** Handles messages that have already arrived. */
  drainMessages(): void {
    for (let got = receiveMessageOnPort(this.#port); got !== undefined; got = receiveMessageOnPort(this.#port)) {
      this.#listener?.onReply(got.message as ThreadReply);
    }
  }

  /** Resolves when the thread has ended, whatever it was doing. */
  async terminate(): Promise<void> {
    this.#isEnded = true;
    this.#listener = undefined;
    await this.#worker.terminate();
    this.#port.close();
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#port.close();
    this.#listener?.onEnd();
  }
}
