/** A message between the kernel and a worker: request number, a small JSON header, and a payload. */
export interface WorkerMessage {
  readonly id: number;
  readonly header: unknown;
  readonly payload: Buffer;
}

export interface MessageBounds {
  readonly headerBytes: number;
  readonly payloadBytes: number;
}

/** Limits for messages to a worker; the two texts of an edit are the largest. */
export const REQUEST_BOUNDS: MessageBounds = { headerBytes: 512 * 1024, payloadBytes: 11 * 1024 * 1024 };
/** Limits for messages from a worker, which may be compromised. */
export const REPLY_BOUNDS: MessageBounds = { headerBytes: 512 * 1024, payloadBytes: 1024 * 1024 };

/** Length of the rest, id and length of the header: four bytes each, big-endian. */
const PREFIX_BYTES = 12;
const EMPTY = Buffer.alloc(0);

/** Encodes a message as one or two chunks: a long payload is not copied. */
export function encodeMessage(id: number, header: object, payload: Uint8Array = EMPTY): Uint8Array[] {
  const text = Buffer.from(JSON.stringify(header));
  const head = Buffer.allocUnsafe(PREFIX_BYTES + text.length);
  head.writeUInt32BE(PREFIX_BYTES - 4 + text.length + payload.length, 0);
  head.writeUInt32BE(id, 4);
  head.writeUInt32BE(text.length, 8);
  text.copy(head, PREFIX_BYTES);
  if (payload.length === 0) return [head];
  return payload.length < COPIED_UP_TO ? [Buffer.concat([head, payload])] : [head, payload];
}

const COPIED_UP_TO = 32 * 1024;

/** Assembles messages from received chunks. Throws for invalid ones. */
export class MessageReader {
  readonly #bounds: MessageBounds;
  #pieces: Buffer[] = [];
  #length = 0;
  #wanted = PREFIX_BYTES;

  constructor(bounds: MessageBounds) {
    this.#bounds = bounds;
  }

  *push(piece: Buffer): Generator<WorkerMessage, void> {
    this.#pieces.push(piece);
    this.#length += piece.length;
    while (this.#length >= this.#wanted) {
      const bytes = this.#join();
      this.#wanted = 4 + this.#lengthOf(bytes);
      if (bytes.length < this.#wanted) return;
      const frame = bytes.subarray(0, this.#wanted);
      this.#pieces = bytes.length === frame.length ? [] : [bytes.subarray(frame.length)];
      this.#length -= frame.length;
      this.#wanted = PREFIX_BYTES;
      yield decodeMessage(frame);
    }
  }

  #join(): Buffer {
    const [first = EMPTY, ...others] = this.#pieces;
    const joined = others.length === 0 ? first : Buffer.concat(this.#pieces, this.#length);
    this.#pieces = [joined];
    return joined;
  }

  #lengthOf(bytes: Buffer): number {
    const length = bytes.readUInt32BE(0);
    const header = bytes.readUInt32BE(8);
    const payload = length - (PREFIX_BYTES - 4) - header;
    if (header > this.#bounds.headerBytes || payload < 0 || payload > this.#bounds.payloadBytes) {
      throw new RangeError("a frame's lengths are out of bounds");
    }
    return length;
  }
}

function decodeMessage(frame: Buffer): WorkerMessage {
  const payloadStart = PREFIX_BYTES + frame.readUInt32BE(8);
  return {
    id: frame.readUInt32BE(4),
    header: JSON.parse(frame.toString("utf8", PREFIX_BYTES, payloadStart)),
    payload: frame.subarray(payloadStart),
  };
}
