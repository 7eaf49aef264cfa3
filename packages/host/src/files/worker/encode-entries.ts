import type { WorkerReply } from "./messages.ts";

const MAX_BATCH_BYTES = 512 * 1024;

/** Encodes as many entries as fit into one message, as JSON. */
export function encodeEntries(
  entries: readonly object[],
  from: number,
  isPartial: boolean,
): { reply: WorkerReply; payload: Buffer } {
  const texts: string[] = [];
  let bytes = 0;
  for (let index = from; index < entries.length && bytes < MAX_BATCH_BYTES; index++) {
    const text = JSON.stringify(entries[index]);
    bytes += Buffer.byteLength(text) + 1;
    texts.push(text);
  }
  const reply = { type: "entries", total: entries.length, partial: isPartial } as const;
  return { reply, payload: Buffer.from(`[${texts.join(",")}]`) };
}
