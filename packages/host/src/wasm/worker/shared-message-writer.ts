import { writeSync } from "node:fs";
import { encodeMessage } from "../../files/worker/worker-message.ts";
import type { HostReply } from "./messages.ts";

const FREE = 0;
const TAKEN = 1;

/**
 * What a host says to the kernel, from whichever of its threads: whole frames, one after the other. Threads speak for
 * themselves, which saves a call the way through the main thread.
 */
export class SharedMessageWriter {
  /** One number that all threads share. */
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

  /** From now on nobody but this thread speaks: no other one can be ended in the middle of a frame. */
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
