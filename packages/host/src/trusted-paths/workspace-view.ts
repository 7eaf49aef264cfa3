import type { FoundEntry } from "../programs/held-directory.ts";

/**
 * A workspace to look at, by paths relative to its root.
 *
 * SECURITY: no path is followed through a link: where a part of one is a link, there is nothing.
 */
export interface WorkspaceView {
  inspectAt(path: string): Promise<FoundEntry | undefined>;
  namesAt(path: string): Promise<string[] | undefined>;
  /** What a directory holds, without looking closer. */
  kindsAt(path: string): Promise<ReadonlyMap<string, "directory" | "link" | "other"> | undefined>;
  /** The beginning of a regular file, as text. */
  readAt(path: string, maxBytes: number): Promise<string | undefined>;
  /** A regular file in parts; nothing where it is missing. */
  chunksAt(path: string): AsyncIterable<Buffer>;
}
