import type { Readable } from "node:stream";

/** The first bytes of a stream, up to a bound; the rest is read and dropped. */
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
