import type { FoundEntry } from "../programs/held-directory.ts";

/**
 * Read access to a workspace, by paths relative to its root.
 *
 * SECURITY: no path is followed through a link: below a link nothing is found.
 */
export interface WorkspaceView {
  inspectAt(path: string): Promise<FoundEntry | undefined>;
  namesAt(path: string): Promise<string[] | undefined>;
  /** Returns names and kinds of a directory's entries from the listing alone. */
  kindsAt(path: string): Promise<ReadonlyMap<string, "directory" | "link" | "other"> | undefined>;
  /** Reads the first bytes of a regular file as text. */
  readAt(path: string, maxBytes: number): Promise<string | undefined>;
  /** Reads a regular file in chunks; yields nothing if it is missing. */
  chunksAt(path: string): AsyncIterable<Buffer>;
}
