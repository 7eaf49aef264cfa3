import type { ContentStore } from "../ports.ts";
import type { ContentUses } from "./content-uses.ts";
import { ReadWriteLock } from "./read-write-lock.ts";

/** A content store that never removes a file while another call has just written the same bytes. */
export interface TrackedContentStore extends ContentStore {
  /**
   * Removes the file unless a running call may still reference it; returns false in that case. `isHeld` is called while
   * no file can be committed.
   */
  removeUnused(digest: Uint8Array, isHeld: () => Promise<boolean>): Promise<boolean>;
}

export function createTrackedContentStore(files: ContentStore, uses: ContentUses): TrackedContentStore {
  const lock = new ReadWriteLock();
  return {
    async openWriter() {
      const writer = await files.openWriter();
      return {
        write: (chunk) => writer.write(chunk),
        // INVARIANT: `removeUnused` sees a file either with its final name and noted, or not at all.
        commit: () =>
          lock.withShared(async () => {
            const committed = await writer.commit();
            uses.note(committed.digest);
            return committed;
          }),
        abort: () => writer.abort(),
      };
    },
    stat: (digest) => files.stat(digest),
    read: (digest, offset, limit) => files.read(digest, offset, limit),
    remove: (digest) => files.remove(digest),
    removeUnused: (digest, isHeld) =>
      lock.withExclusive(async () => {
        // The order matters: a call that noted the content and has ended has already written its record, and `isHeld`
        // sees that record.
        if (uses.isInUse(digest)) return false;
        if (!(await isHeld())) await files.remove(digest);
        return true;
      }),
  };
}
