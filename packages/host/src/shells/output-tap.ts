import { PassThrough, type Readable } from "node:stream";

/**
 * Splits one output stream of a long-running shell into the output of each command.
 *
 * SECURITY: the end of a command's output is marked by a random value that is generated after the command has ended, so
 * no output of the command or its programs can contain it.
 */
export class OutputTap {
  readonly #source: Readable;
  #reader: PassThrough | undefined;
  #mark: { readonly bytes: Buffer; readonly found: () => void } | undefined;
  /** Bytes that may be the beginning of the mark. */
  #held = Buffer.alloc(0);
  #dropped = 0;

  constructor(source: Readable) {
    this.#source = source;
    source.on("data", (chunk: Buffer) => this.#take(chunk));
    source.on("end", () => this.#end());
    source.on("close", () => this.#end());
    source.on("error", () => this.#end());
  }

  /** Returns a stream of all output from now on. */
  open(): PassThrough {
    const reader = new PassThrough();
    reader.on("drain", () => this.#source.resume());
    // A reader that stops reading must not block the shell.
    reader.on("close", () => this.#source.resume());
    if (this.#source.readableEnded || this.#source.destroyed) reader.end();
    this.#reader = reader;
    return reader;
  }

  /** Ends the stream that `open` returned at the mark. Resolves once the mark was seen. */
  endAt(mark: string): Promise<void> {
    return new Promise((resolve) => {
      this.#mark = { bytes: Buffer.from(mark, "latin1"), found: resolve };
    });
  }

  /** Returns the number of bytes that arrived while no command ran, and resets it. */
  takeDropped(): number {
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped;
  }

  #take(chunk: Buffer): void {
    const mark = this.#mark;
    if (mark === undefined) {
      this.#pass(chunk);
      return;
    }
    const all = Buffer.concat([this.#held, chunk]);
    const at = all.indexOf(mark.bytes);
    if (at === -1) {
      const sure = Math.max(0, all.length - mark.bytes.length + 1);
      this.#held = Buffer.from(all.subarray(sure));
      this.#pass(all.subarray(0, sure));
      return;
    }
    this.#mark = undefined;
    this.#held = Buffer.alloc(0);
    this.#pass(all.subarray(0, at));
    this.#closeReader();
    this.#pass(all.subarray(at + mark.bytes.length));
    mark.found();
  }

  #pass(chunk: Buffer): void {
    if (chunk.length === 0) return;
    const reader = this.#reader;
    if (reader === undefined) this.#dropped += chunk.length;
    else if (!reader.write(chunk) && !reader.destroyed) this.#source.pause();
  }

  #end(): void {
    this.#pass(this.#held);
    this.#held = Buffer.alloc(0);
    this.#closeReader();
  }

  #closeReader(): void {
    this.#reader?.end();
    this.#reader = undefined;
  }
}
