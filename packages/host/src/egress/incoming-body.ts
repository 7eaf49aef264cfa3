import { KernelError } from "@narthex/contracts";

/** Where a body comes from. */
export interface BodySource {
  pause(): void;
  resume(): void;
  /** Nobody wants the rest. */
  giveUp(fault: Error): void;
}

/** So much may wait for its reader; then the source is held back. */
const HELD_BYTES = 128 * 1024;

/**
 * A body on its way from a connection to its one reader. It is no stream: that would cost more than all the checks.
 *
 * INVARIANT: a fault is what the next read gets, whatever had come before it; nothing waits for ever.
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

  /** For the source. */
  push(piece: Buffer): void {
    if (this.#end !== undefined) return;
    const reader = this.#takeReader();
    if (reader !== undefined) return reader.resolve({ value: piece, done: false });
    this.#pieces.push(piece);
    this.#heldBytes += piece.length;
    if (this.#heldBytes >= HELD_BYTES) this.#source.pause();
  }

  /** For the source: with a fault, or whole. */
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

  /** Gives up what has not been read. */
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
