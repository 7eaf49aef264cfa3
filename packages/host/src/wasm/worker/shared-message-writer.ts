import { writeSync } from "node:fs";
import { encodeMessage } from "../../files/worker/worker-message.ts";
import type { HostReply } from "./messages.ts";

const FREE = 0;
const TAKEN = 1;

/**
 * Writes messages to the kernel from any of the host's threads, each message as a whole. Threads write directly, which
 * avoids a detour through the main thread.
 */
export class SharedMessageWriter {
  /** The lock, shared by all threads. */
  readonly turn: Int32Array;
  #holds = 0;

  constructor(turn: Int32Array = new Int32Array(new SharedArrayBuffer(4))) {
    this.turn = turn;
  }

  write(id: number, reply: HostReply, payload?: Uint8Array): void {
    const pieces = encodeMessage(id, reply, payload);
    this.lock();
    try {
      for (const piece of pieces) {
        for (let done = 0; done < piece.length; ) done += writeSync(1, piece, done);
      }
    } finally {
      this.unlock();
    }
  }

  /** Prevents all other threads from writing, so that none can be terminated in the middle of a message. */
  lock(): void {
    if (this.#holds++ > 0) return;
    while (Atomics.compareExchange(this.turn, 0, FREE, TAKEN) !== FREE) Atomics.wait(this.turn, 0, TAKEN);
  }

  unlock(): void {
    if (--this.#holds > 0) return;
    Atomics.store(this.turn, 0, FREE);
    Atomics.notify(this.turn, 0, 1);
  }
}
