import { LineReader } from "./line-reader.ts";

export interface EventStreamOptions {
  /** Maximum size of one event. */
  readonly maxBytes: number;
  /** Called with the data of each event that has data. */
  onData(data: Buffer): void;
  onTooLong(): void;
}

const [LINE_FEED, CARRIAGE_RETURN, COLON, SPACE] = [0x0a, 0x0d, 0x3a, 0x20];

/** Event ids from which a stream can be resumed: values that are valid in a header. */
const EVENT_ID = /^[\x21-\x7e](?:[\x20-\x7e]{0,1022}[\x21-\x7e])?$/;
const MAX_RETRY_DIGITS = 6;

/** Parses server-sent events from a body. Comments are ignored. */
export class EventStream {
  readonly #options: EventStreamOptions;
  readonly #lines: LineReader;
  #data: Buffer[] = [];
  #bytes = 0;
  #isMessage = true;
  #endedWithReturn = false;
  #lastId: string | undefined;
  #retryMs: number | undefined;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    const { maxBytes, onTooLong } = options;
    this.#lines = new LineReader({ maxBytes, onLine: (line) => this.#read(line), onTooLong });
  }

  /** Id of the last event that had one. A broken stream is resumed from there. */
  get lastId(): string | undefined {
    return this.#lastId;
  }

  /** How long the server asks to wait before the stream is resumed. */
  get retryMs(): number | undefined {
    return this.#retryMs;
  }

  take(chunk: Uint8Array): void {
    this.#lines.take(this.#withLineFeeds(chunk));
  }

  close(): void {
    this.#lines.close();
    this.#data = [];
  }

  /** Lines may end with CR, LF or CRLF. */
  #withLineFeeds(chunk: Uint8Array): Buffer {
    const lines = Buffer.alloc(chunk.length);
    let length = 0;
    for (const byte of chunk) {
      const isSecondHalf = byte === LINE_FEED && this.#endedWithReturn;
      this.#endedWithReturn = byte === CARRIAGE_RETURN;
      if (!isSecondHalf) lines[length++] = byte === CARRIAGE_RETURN ? LINE_FEED : byte;
    }
    return lines.subarray(0, length);
  }

  #read(line: Buffer): void {
    if (line.length === 0) return this.#dispatch();
    const colon = line.indexOf(COLON);
    const name = line.subarray(0, colon < 0 ? line.length : colon).toString("latin1");
    const rest = colon < 0 ? Buffer.alloc(0) : line.subarray(colon + (line[colon + 1] === SPACE ? 2 : 1));
    if (name === "event") this.#isMessage = rest.toString("latin1") === "message";
    if (name === "id") this.#noteId(rest.toString("latin1"));
    if (name === "retry") this.#noteRetry(rest.toString("latin1"));
    if (name !== "data") return;
    this.#bytes += rest.length + 1;
    this.#data.push(rest);
    if (this.#bytes <= this.#options.maxBytes) return;
    this.close();
    this.#options.onTooLong();
  }

  #noteId(text: string): void {
    this.#lastId = EVENT_ID.test(text) ? text : undefined;
  }

  #noteRetry(digits: string): void {
    if (/^\d+$/.test(digits)) this.#retryMs = Number(digits.slice(0, MAX_RETRY_DIGITS));
  }

  #dispatch(): void {
    const data = this.#isMessage ? joined(this.#data) : Buffer.alloc(0);
    this.#data = [];
    this.#bytes = 0;
    this.#isMessage = true;
    // An event without data only sets the id.
    if (data.length > 0) this.#options.onData(data);
  }
}

function joined(lines: readonly Buffer[]): Buffer {
  return Buffer.concat(lines.flatMap((line, index) => (index === 0 ? [line] : [Buffer.from("\n"), line])));
}
