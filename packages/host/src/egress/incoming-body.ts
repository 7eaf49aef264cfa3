import { KernelError } from "@narthex/contracts";

/** The connection that a body is received from. */
export interface BodySource {
  pause(): void;
  resume(): void;
  /** The rest of the body is not needed. */
  giveUp(fault: Error): void;
}

/** Maximum number of bytes that wait for the reader before the source is paused. */
const HELD_BYTES = 128 * 1024;

/**
 * A body that is received from a connection and read by one reader. It is not a Node stream, which would cost more than
 * all the checks.
 *
 * INVARIANT: after an error, the next read throws it, even if earlier chunks were not read yet; no read waits forever.
 */
export class IncomingBody implements AsyncIterableIterator<Buffer, undefined> {
  readonly #source: BodySource;
  readonly #pieces: Buffer[] = [];
  #heldBytes = 0;
  #reader: PromiseWithResolvers<IteratorResult<Buffer, undefined>> | undefined;
  #end: "whole" | Error | undefined;

  constructor(source: BodySource) {
    this.#source = source;
  }

  /** Called by the source with each chunk. */
  push(piece: Buffer): void {
    if (this.#end !== undefined) return;
    const reader = this.#takeReader();
    if (reader !== undefined) return reader.resolve({ value: piece, done: false });
    this.#pieces.push(piece);
    this.#heldBytes += piece.length;
    if (this.#heldBytes >= HELD_BYTES) this.#source.pause();
  }

  /** Called by the source when the body is complete, or with the error that ended it. */
  finish(fault?: Error): void {
    if (this.#end !== undefined) return;
    this.#end = fault ?? "whole";
    if (fault !== undefined) this.#pieces.length = 0;
    const reader = this.#takeReader();
    if (fault === undefined) reader?.resolve(OVER);
    else reader?.reject(fault);
  }

  next(): Promise<IteratorResult<Buffer, undefined>> {
    const piece = this.#pieces.shift();
    if (piece !== undefined) {
      this.#heldBytes -= piece.length;
      if (this.#end === undefined && this.#heldBytes < HELD_BYTES) this.#source.resume();
      return Promise.resolve({ value: piece, done: false });
    }
    if (this.#end === "whole") return Promise.resolve(OVER);
    if (this.#end !== undefined) return Promise.reject(this.#end);
    this.#reader ??= Promise.withResolvers();
    return this.#reader.promise;
  }

  return(): Promise<IteratorResult<Buffer, undefined>> {
    this.destroy();
    return Promise.resolve(OVER);
  }

  /** Discards the unread rest. */
  destroy(): void {
    this.#pieces.length = 0;
    if (this.#end !== undefined) return;
    const fault = new KernelError("CANCELLED", "the answer was given up");
    this.finish(fault);
    this.#source.giveUp(fault);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #takeReader(): PromiseWithResolvers<IteratorResult<Buffer, undefined>> | undefined {
    const reader = this.#reader;
    this.#reader = undefined;
    return reader;
  }
}

const OVER = { value: undefined, done: true } as const;
