import {
  type ContentItem,
  ContentPlace,
  fromBinary,
  KernelError,
  RecordContentSchema,
  type RecordMessage,
  RecordSchema,
  toHex,
} from "@narthex/contracts";
import type { Store, StoredRecord } from "../ports.ts";
import type { ErasureTarget } from "./erasure.ts";

/** A decoded record with its content items. */
export interface DecodedRecord {
  readonly index: number;
  readonly chain: string;
  readonly message: RecordMessage;
  readonly items: readonly ContentItem[];
}

const PAGE = 256;
/** Maximum number of items in one erasure. */
const MAX_TARGETS = 500_000;

/** Throws RESOURCE_EXCEEDED if there are more items than one erasure can handle. */
export function requireRoom(targets: number): void {
  if (targets < MAX_TARGETS) return;
  throw new KernelError(
    "RESOURCE_EXCEEDED",
    `more than ${MAX_TARGETS} items at once: erase one hash or session at a time`,
  );
}

export function decodeStoredRecord({ index, chain, record, content }: StoredRecord): DecodedRecord {
  const { items } = fromBinary(RecordContentSchema, content);
  return { index, chain, message: fromBinary(RecordSchema, record), items };
}

/** Reads every record of a chain from index `first` on, oldest first, one page at a time. */
export async function* readChain(chain: string, store: Store, first = 0): AsyncGenerator<DecodedRecord> {
  for (let from = first; ; ) {
    const page = await store.readRecords({ chain, from, limit: PAGE });
    for (const stored of page) yield decodeStoredRecord(stored);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    from = last.index + 1;
  }
}

/** Returns undefined if the item is already erased. */
export function toErasureTarget(
  { index: recordIndex, chain }: Pick<DecodedRecord, "index" | "chain">,
  item: number,
  found: ContentItem,
): ErasureTarget | undefined {
  const { role, place } = found;
  if (place === ContentPlace.ERASED) return undefined;
  // A copy, so that the target does not keep the whole row in memory.
  const nonce = found.nonce.slice();
  return { chain, recordIndex, item, digest: toHex(found.digest), role, place, size: Number(found.size), nonce };
}
