import { PLACE_ERASED } from "./content-numbers.ts";
import { type ScannedItem, itemSpans, scanRecordContent, writeTombstone } from "./record-content.ts";

/** Record content after replacing items with tombstones, and the original items. */
export interface ErasedContent {
  readonly content: Buffer;
  readonly erased: readonly ScannedItem[];
}

/**
 * Replaces items with tombstones, which keep role, size and labels; digest, nonce and bytes are removed. All other
 * items stay unchanged.
 *
 * INVARIANT: an item is erased once. Erasing it again would add a second entry about it and make the ledger contradict
 * itself.
 */
export function eraseItems(content: Uint8Array, positions: ReadonlySet<number>): ErasedContent {
  const items = scanRecordContent(content);
  const spans = itemSpans(content);
  const parts: Uint8Array[] = [];
  const erased: ScannedItem[] = [];
  for (let position = 0; position < items.length; position++) {
    const item = items[position];
    const span = spans[position];
    if (item === undefined || span === undefined) break;
    if (!positions.has(position)) {
      parts.push(content.subarray(span.start, span.end));
      continue;
    }
    if (item.place === PLACE_ERASED) throw new RangeError(`content item ${position} was erased before`);
    erased.push(item);
    parts.push(writeTombstone(item, PLACE_ERASED));
  }
  if (erased.length !== positions.size) throw new RangeError("a content item to be erased is not there");
  return { content: Buffer.concat(parts), erased };
}
