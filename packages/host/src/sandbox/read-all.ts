import type { Readable } from "node:stream";

/** Reads the first bytes of a stream, up to a limit; the rest is read and discarded. */
export async function readAll(stream: Readable, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    const bytes = chunk as Buffer;
    if (length >= maxBytes) continue;
    chunks.push(bytes.subarray(0, maxBytes - length));
    length += bytes.length;
  }
  return Buffer.concat(chunks);
}
