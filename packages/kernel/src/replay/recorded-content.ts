import { blake3, type ContentItem, ContentPlace, equalBytes, KernelError, toHex } from "@narthex/contracts";
import type { ReplayContent, ReplaySource } from "./replay-source.ts";

/** Why content is missing: erased permanently, or only left out of a bundle. */
export type MissingContent = "erased" | "left_out";

/** Maximum number of bytes read into memory at once: the largest input, and the largest file that is edited. */
const MAX_WHOLE_BYTES = 128 * 1024 * 1024;

/**
 * Finds the content of an item, wherever it is stored. `item` is undefined if no item opens the commitment any more.
 */
export async function findItem(
  item: ContentItem | undefined,
  source: ReplaySource,
): Promise<ReplayContent | MissingContent> {
  if (item === undefined || item.place === ContentPlace.ERASED) return "erased";
  if (item.place === ContentPlace.ROW) return contentOfBytes(item.data, item.digest);
  return (await source.findContent(item.digest)) ?? (source.omitsContent ? "left_out" : "erased");
}

/** Items in rows whose bytes were already checked against their digest. */
const checkedRows = new WeakSet<ContentItem>();

export async function readItem(
  item: ContentItem | undefined,
  source: ReplaySource,
): Promise<Uint8Array | MissingContent> {
  if (item !== undefined && checkedRows.has(item)) return item.data;
  if (item?.place === ContentPlace.ROW && equalBytes(blake3(item.data), item.digest)) {
    checkedRows.add(item);
    return item.data;
  }
  const found = await findItem(item, source);
  return typeof found === "string" ? found : await readWhole(found);
}

/** Reads all of the content. Throws RESOURCE_EXCEEDED if it is larger than a replay can hold. */
export async function readWhole(content: ReplayContent): Promise<Uint8Array> {
  if (content.size > MAX_WHOLE_BYTES) {
    throw new KernelError("RESOURCE_EXCEEDED", `a replay holds at most ${MAX_WHOLE_BYTES} bytes of content at once`);
  }
  const parts: Uint8Array[] = [];
  for await (const part of content.stream(0, 0)) parts.push(Buffer.from(part));
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
}

export function contentOfBytes(bytes: Uint8Array, digest: Uint8Array): ReplayContent {
  return {
    size: bytes.length,
    async *stream(offset, limit) {
      if (!equalBytes(blake3(bytes), digest)) throw damaged(digest);
      const end = limit === 0 ? bytes.length : Math.min(bytes.length, offset + limit);
      if (offset < end) yield bytes.subarray(offset, end);
      await Promise.resolve();
    },
  };
}

function damaged(digest: Uint8Array): KernelError {
  return new KernelError("CONTENT_DAMAGED", `the content ${toHex(digest)} is not what its hash says`);
}
