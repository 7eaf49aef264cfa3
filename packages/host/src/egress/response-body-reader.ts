import { KernelError } from "@narthex/contracts";
import { explainFault } from "./explain-fault.ts";
import type { IncomingBody } from "./incoming-body.ts";

type Piece = IteratorResult<Uint8Array, undefined>;

/** A decompressed body of limited size. Ending the iteration ends the source, even if it was never started. */
export class ResponseBodyReader implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #pieces: AsyncIterator<Uint8Array, unknown>;
  readonly #body: IncomingBody;
  readonly #host: string;
  readonly #allowedBytes: number;
  #bytes = 0;
  #isOver = false;

  constructor(unpacked: AsyncIterable<Uint8Array>, body: IncomingBody, host: string, allowedBytes: number) {
    this.#pieces = unpacked[Symbol.asyncIterator]();
    this.#body = body;
    this.#host = host;
    this.#allowedBytes = allowedBytes;
  }

  async next(): Promise<Piece> {
    if (this.#isOver) return OVER;
    try {
      const piece = await this.#pieces.next();
      if (piece.done === true) return this.#end();
      this.#bytes += piece.value.length;
      if (this.#bytes <= this.#allowedBytes) return { value: piece.value, done: false };
      throw new KernelError("RESOURCE_EXCEEDED", `body: at most ${this.#allowedBytes} bytes, and it is larger`);
    } catch (fault) {
      await this.return();
      throw explainFault(fault, this.#host);
    }
  }

  async return(): Promise<Piece> {
    this.#end();
    // Ends the decompression as well.
    await this.#pieces.return?.();
    return OVER;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #end(): typeof OVER {
    this.#isOver = true;
    this.#body.destroy();
    return OVER;
  }
}

const OVER = { value: undefined, done: true } as const;
