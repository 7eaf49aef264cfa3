import type { MessageInitShape } from "@bufbuild/protobuf";
import { type ExportLedgerResponseSchema, KernelError } from "@narthex/contracts";

/**
 * Yields the bytes of a bundle of a session, or of the whole ledger if the id is empty; provided by the code that opens
 * the door.
 */
export type ExportLedger = (sessionId: string, signal: AbortSignal) => AsyncIterable<Uint8Array>;

/** Small parts are sent together, large ones in pieces. */
const CHUNK_BYTES = 256 * 1024;

export async function* streamExport(
  exportLedger: ExportLedger | undefined,
  sessionId: string,
  signal: AbortSignal,
): AsyncGenerator<MessageInitShape<typeof ExportLedgerResponseSchema>> {
  if (exportLedger === undefined) {
    throw new KernelError("INTERNAL", "this kernel was opened without an exporter; run `narthex ledger export`");
  }
  let waiting: Uint8Array[] = [];
  let size = 0;
  for await (const bytes of exportLedger(sessionId, signal)) {
    signal.throwIfAborted();
    for (let from = 0; from < bytes.length; from += CHUNK_BYTES) {
      const piece = bytes.subarray(from, from + CHUNK_BYTES);
      waiting.push(Buffer.from(piece));
      size += piece.length;
      if (size < CHUNK_BYTES) continue;
      yield { chunk: Buffer.concat(waiting) };
      waiting = [];
      size = 0;
    }
  }
  if (size > 0) yield { chunk: Buffer.concat(waiting) };
}
