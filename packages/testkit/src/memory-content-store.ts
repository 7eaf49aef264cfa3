import { blake3, toHex } from "@narthex/contracts";
import type { ContentStore } from "@narthex/kernel";

/** A content store in memory. */
export function createMemoryContentStore(): ContentStore {
  const files = new Map<string, Uint8Array>();
  return {
    async openWriter() {
      const chunks: Uint8Array[] = [];
      return {
        async write(chunk) {
          chunks.push(chunk.slice());
        },
        async commit() {
          const bytes = new Uint8Array(Buffer.concat(chunks));
          const digest = blake3(bytes);
          files.set(toHex(digest), bytes);
          return { digest, size: bytes.length };
        },
        async abort() {
          chunks.length = 0;
        },
      };
    },
    async stat(digest) {
      const bytes = files.get(toHex(digest));
      return bytes && { size: bytes.length };
    },
    async *read(digest, offset, limit) {
      const bytes = files.get(toHex(digest));
      if (bytes !== undefined) yield bytes.subarray(offset, offset + limit);
    },
    async remove(digest) {
      files.delete(toHex(digest));
    },
  };
}
