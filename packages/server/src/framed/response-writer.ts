import type { Socket } from "node:net";
import { encodeResponse, type ToolResponse } from "@narthex/contracts";
import type { ByteBudget } from "../byte-budget.ts";
import { joinFrames } from "./frame.ts";

export interface ResponseWriterOptions {
  readonly socket: Socket;
  readonly budget: ByteBudget;
  /** The client reads more slowly than responses are produced. */
  onBlocked(): void;
  /** Every response so far was handed to the system. */
  onFlushed(): void;
}

/** Sends responses; those of one tick are sent in one write. */
export class ResponseWriter {
  readonly #options: ResponseWriterOptions;
  #bodies: Uint8Array[] = [];
  #bytes = 0;
  #writes = 0;
  #waitingSinceMs = 0;

  constructor(options: ResponseWriterOptions) {
    this.#options = options;
  }

  /** Whether some responses have not been handed to the socket yet. */
  get pending(): boolean {
    return this.#bodies.length > 0;
  }

  /** Time since which the client has read nothing of the pending data; 0 if nothing is pending. */
  get waitingSinceMs(): number {
    return this.#waitingSinceMs;
  }

  send(response: ToolResponse): void {
    const body = encodeResponse(response);
    this.#options.budget.acquireOverLimit(body.length);
    this.#bytes += body.length;
    if (this.#bodies.push(body) === 1) process.nextTick(() => this.#flush());
  }

  #flush(): void {
    const { socket, budget } = this.#options;
    const bytes = this.#bytes;
    const bodies = this.#bodies;
    this.#bodies = [];
    this.#bytes = 0;
    if (socket.destroyed) {
      budget.release(bytes);
      return;
    }
    this.#writes++;
    if (this.#waitingSinceMs === 0) this.#waitingSinceMs = Date.now();
    const drained = socket.write(joinFrames(bodies, bytes), () => {
      budget.release(bytes);
      this.#writes--;
      this.#waitingSinceMs = this.#writes === 0 ? 0 : Date.now();
    });
    if (!drained) this.#options.onBlocked();
    this.#options.onFlushed();
  }
}
