import type { ContentStore } from "../ports.ts";
import type { ContentUses } from "./content-uses.ts";
import { SharedLock } from "./shared-lock.ts";

/** Content files whose removal cannot meet somebody who has just written the same bytes again. */
export interface UsedContent extends ContentStore {
  /** Removes the file unless somebody may still name it; false if so. `isHeld` is asked while nothing can be written. */
  removeUnused(digest: Uint8Array, isHeld: () => Promise<boolean>): Promise<boolean>;
}

export function createUsedContent(files: ContentStore, uses: ContentUses): UsedContent {
  const lock = new SharedLock();
  return {
    async openWriter() {
      const writer = await files.openWriter();
      return {
        write: (chunk) => writer.write(chunk),
        // INVARIANT: a file has its name and is noted, or neither, for whoever wants to remove it.
        commit: () =>
          lock.share(async () => {
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
      lock.haveAlone(async () => {
        // In this order: whoever noted it and has ended has written its record, and that is seen then.
        if (uses.isInUse(digest)) return false;
        if (!(await isHeld())) await files.remove(digest);
        return true;
      }),
  };
}
