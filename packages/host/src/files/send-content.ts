import type { WorkerTicket } from "./worker-ticket.ts";

const PIECE_BYTES = 1024 * 1024;

/** Sends the content to write, except for the last chunk, which it returns: it is sent with the commit. */
export async function sendContent(
  ticket: WorkerTicket,
  content: Uint8Array | AsyncIterable<Uint8Array>,
): Promise<Uint8Array | undefined> {
  let last: Uint8Array | undefined;
  for await (const bytes of content instanceof Uint8Array ? [content] : content) {
    for (let offset = 0; offset < bytes.length; offset += PIECE_BYTES) {
      if (last !== undefined) await ticket.send(last);
      last = bytes.subarray(offset, offset + PIECE_BYTES);
    }
  }
  return last;
}
