import { type FileHandle, open } from "node:fs/promises";
import { toHex } from "@narthex/contracts";
import { ByteSearch } from "./byte-search.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { Reader } from "./reader.ts";
import { storePaths } from "./store-files.ts";

/** Removes erased data from the files themselves. */
export interface Scrubber {
  scrub(digests: readonly Uint8Array[], others: readonly Uint8Array[] | undefined): Promise<void>;
  close(): Promise<void>;
}

const CHUNK_BYTES = 256 * 1024;
/** Searching for more needles would take longer than rewriting the file. */
const MAX_NEEDLES = 100_000;

function isDistinctive({ length }: Uint8Array): boolean {
  return length >= 16;
}

/**
 * Deleted data is overwritten and WALs are emptied, which leaves nothing, except in one case: pages that SQLite
 * rearranged earlier may contain an old copy between their cells. So the files are searched, and a file that still
 * contains a digest or a nonce is rewritten as a whole.
 */
export function createScrubber(directory: string, commit: GroupCommit, reader: Reader): Scrubber {
  const paths = storePaths(directory);
  /**
   * INVARIANT: closed only after the databases: closing any descriptor of a file releases the locks that SQLite holds
   * on it elsewhere in this process.
   */
  const handles = new Map<string, FileHandle>();

  async function holdsAny(path: string, search: ByteSearch): Promise<boolean> {
    const handle = handles.get(path) ?? (await open(path, "r"));
    handles.set(path, handle);
    const overlap = Math.max(0, search.longest - 1);
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES + overlap);
    for (let position = 0; ; position += CHUNK_BYTES) {
      const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
      if (search.isIn(chunk.subarray(0, bytesRead))) return true;
      if (bytesRead < chunk.length) return false;
    }
  }

  return {
    async scrub(digests, others) {
      const names = digests.map(toHex);
      await commit.scrub(names, false);
      await reader.ask("scrubIndex", { rewrite: false });
      if (others === undefined) return;
      const needles = [...digests, ...others, ...names.map((name) => Buffer.from(name))].filter(isDistinctive);
      const isMany = needles.length > MAX_NEEDLES;
      const search = new ByteSearch(isMany ? [] : needles);
      if (isMany || (await holdsAny(paths.records, search))) await commit.scrub([], true);
      if (isMany || (await holdsAny(paths.index, search))) await reader.ask("scrubIndex", { rewrite: true });
    },
    async close() {
      for (const handle of handles.values()) await handle.close().catch(() => undefined);
      handles.clear();
    },
  };
}
