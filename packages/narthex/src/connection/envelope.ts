import { CommandError } from "../terminal/command-error.ts";

/** One message of a Connect stream: a flags byte, a 4-byte big-endian length, the message. */
export interface Envelope {
  /** Whether this is the last message of the stream: JSON that may hold an error. */
  readonly isEndStream: boolean;
  readonly data: Uint8Array;
}

const HEADER_BYTES = 5;
const FLAG_END_STREAM = 0b10;

export function encodeEnvelope(data: Uint8Array): Uint8Array {
  const envelope = Buffer.allocUnsafe(HEADER_BYTES + data.length);
  envelope[0] = 0;
  envelope.writeUInt32BE(data.length, 1);
  envelope.set(data, HEADER_BYTES);
  return envelope;
}

/** Splits a byte stream into its messages. Throws on an invalid message. */
export async function* readEnvelopes(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Envelope> {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  let neededBytes = HEADER_BYTES;
  for await (const chunk of chunks) {
    pending.push(chunk);
    pendingBytes += chunk.length;
    if (pendingBytes < neededBytes) continue;
    let buffer =
      pending.length === 1 ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length) : Buffer.concat(pending);
    neededBytes = neededFor(buffer, maxBytes);
    while (buffer.length >= neededBytes) {
      yield { isEndStream: buffer[0] === FLAG_END_STREAM, data: buffer.subarray(HEADER_BYTES, neededBytes) };
      buffer = buffer.subarray(neededBytes);
      neededBytes = neededFor(buffer, maxBytes);
    }
    pending = buffer.length > 0 ? [buffer] : [];
    pendingBytes = buffer.length;
  }
  if (pendingBytes > 0) throw malformed("a message of the stream is cut short");
}

function neededFor(buffer: Buffer, maxBytes: number): number {
  if (buffer.length < HEADER_BYTES) return HEADER_BYTES;
  const flags = buffer[0];
  if (flags !== 0 && flags !== FLAG_END_STREAM) throw malformed("the stream has a message of an unknown kind");
  const length = buffer.readUInt32BE(1);
  if (length > maxBytes) throw malformed("a message of the stream is too long");
  return HEADER_BYTES + length;
}

function malformed(message: string): CommandError {
  return new CommandError("KERNEL_UNREACHABLE", `the kernel's answer makes no sense: ${message}`);
}
