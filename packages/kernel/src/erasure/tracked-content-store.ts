import type { ContentStore } from "../ports.ts";
import type { ContentUses } from "./content-uses.ts";
import { ReadWriteLock } from "./read-write-lock.ts";

/** Content files whose removal cannot meet somebody who has just written the same bytes again. */
export interface TrackedContentStore extends ContentStore {
  /** Removes the file unless somebody may still name it; false if so. `isHeld` is asked while nothing can be written. */
  removeUnused(digest: Uint8Array, isHeld: () => Promise<boolean>): Promise<boolean>;
}

export function createTrackedContentStore(files: ContentStore, uses: ContentUses): TrackedContentStore {
  const lock = new ReadWriteLock();
  return {
    async openWriter() {
      const writer = await files.openWriter();
      return {
        write: (chunk) => writer.write(chunk),
        // INVARIANT: a file has its name and is noted, or neither, for whoever wants to remove it.
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
        // In this order: whoever noted it and has ended has written its record, and that is seen then.
        if (uses.isInUse(digest)) return false;
        if (!(await isHeld())) await files.remove(digest);
        return true;
      }),
  };
}
