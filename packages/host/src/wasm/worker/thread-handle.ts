import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import { stackBytesFor } from "@narthex/meter";
import { MAX_DEPTH } from "./messages.ts";
import { ThreadGauge } from "./thread-gauge.ts";
import type { ThreadData } from "./thread-loop.ts";
import type { ThreadReply, ThreadRequest } from "./thread-messages.ts";

/** Of one thread. What it keeps of modules and messages; memory of modules themselves is not in it. */
const HEAP_MB = 512;
/** For all the depth that a module may have. */
const STACK_MB = Math.ceil(stackBytesFor(MAX_DEPTH) / 2 ** 20);

/** What the job is told that a thread works on. */
export interface ThreadListener {
  onReply(reply: ThreadReply): void;
  /** It has ended by itself: out of memory, or by a fault. */
  onEnd(): void;
}

/** One thread that runs modules, as the host's main thread has it. */
export class ThreadHandle {
  /** Keys of modules that it has. */
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

  /** Hears now what it has said already. */
  drainMessages(): void {
    for (let got = receiveMessageOnPort(this.#port); got !== undefined; got = receiveMessageOnPort(this.#port)) {
      this.#listener?.onReply(got.message as ThreadReply);
    }
  }

  /** Resolves when nothing of it runs any more, whatever it was doing. */
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
