import { ContentPlace, MAX_ROW_CONTENT_BYTES } from "@narthex/contracts";
import type { ContentStore } from "../ports.ts";

export interface PlacedBytes {
  readonly digest: Uint8Array;
  readonly size: number;
  readonly place: ContentPlace;
  /** Set if the bytes go into the record's row. */
  readonly bytes?: Uint8Array;
}

/** Places bytes: small ones in the record's row, large ones in a file that is durable before any record names it. */
export function placeBytes(
  bytes: Uint8Array,
  digest: Uint8Array,
  store: ContentStore,
): PlacedBytes | Promise<PlacedBytes> {
  if (bytes.length <= MAX_ROW_CONTENT_BYTES) return { digest, size: bytes.length, place: ContentPlace.ROW, bytes };
  return writeFile(bytes, store);
}

async function writeFile(bytes: Uint8Array, store: ContentStore): Promise<PlacedBytes> {
  const writer = await store.openWriter();
  try {
    await writer.write(bytes);
    const { digest, size } = await writer.commit();
    return { digest, size, place: ContentPlace.FILE };
  } catch (fault) {
    await writer.abort();
    throw fault;
  }
}
