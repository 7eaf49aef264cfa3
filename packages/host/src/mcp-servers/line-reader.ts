const NEWLINE = 0x0a;

export interface LineReaderOptions {
  readonly maxBytes: number;
  onLine(line: Buffer): void;
  onTooLong(): void;
}

/** Splits input into lines. A line that is too long is discarded. */
export class LineReader {
  readonly #options: LineReaderOptions;
  #parts: Buffer[] = [];
  #bytes = 0;
  #isClosed = false;

  constructor(options: LineReaderOptions) {
    this.#options = options;
  }

  take(chunk: Buffer): void {
    let from = 0;
    while (!this.#isClosed) {
      const end = chunk.indexOf(NEWLINE, from);
      this.#gather(chunk.subarray(from, end < 0 ? chunk.length : end));
      if (end < 0 || this.#isClosed) return;
      const line = Buffer.concat(this.#parts);
      this.#parts = [];
      this.#bytes = 0;
      this.#options.onLine(line);
      from = end + 1;
    }
  }

  /** Ignores all further input. */
  close(): void {
    this.#isClosed = true;
    this.#parts = [];
  }

  #gather(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes <= this.#options.maxBytes) {
      if (part.length > 0) this.#parts.push(part);
      return;
    }
    this.close();
    this.#options.onTooLong();
  }
}
