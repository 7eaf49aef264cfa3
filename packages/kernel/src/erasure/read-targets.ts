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

/** A stored record with what is in it. */
export interface DecodedRecord {
  readonly index: number;
  readonly chain: string;
  readonly message: RecordMessage;
  readonly items: readonly ContentItem[];
}

const PAGE = 256;
/** What one erasure takes in hand. */
const MAX_TARGETS = 500_000;

/** Throws RESOURCE_EXCEEDED for more than can be erased at once. */
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

/** Every record of a chain from an index on, oldest first, a page at a time. */
export async function* readChain(chain: string, store: Store, first = 0): AsyncGenerator<DecodedRecord> {
  for (let from = first; ; ) {
    const page = await store.readRecords({ chain, from, limit: PAGE });
    for (const stored of page) yield decodeStoredRecord(stored);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    from = last.index + 1;
  }
}

/** Undefined for what was erased before. */
export function toErasureTarget(
  { index: recordIndex, chain }: Pick<DecodedRecord, "index" | "chain">,
  item: number,
  found: ContentItem,
): ErasureTarget | undefined {
  const { role, place } = found;
  if (place === ContentPlace.ERASED) return undefined;
  // A copy: it must not keep the whole row in memory.
  const nonce = found.nonce.slice();
  return { chain, recordIndex, item, digest: toHex(found.digest), role, place, size: Number(found.size), nonce };
}
