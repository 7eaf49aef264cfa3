/**
 * The files of a session's workspace.
 *
 * SECURITY: behind this port there is no gap between check and use: a path is walked from the workspace's root, part by
 * part, what is found is held open, and that is what is read or changed. What was opened is reported before anything
 * is done, so that it can be decided again where it is not what was named.
 */
export interface WorkspaceFiles {
  /**
   * Opens what an operation is about, and does nothing yet. Throws a KernelError with the code of what is wrong. The
   * signal ends everything that follows too, up to the moment at which a change is made: then it is seen through.
   */
  prepare(place: WorkspaceMount, operation: FileOperation, signal: AbortSignal): Promise<PreparedOperation>;
}

export interface WorkspaceMount {
  /** Absolute, real path on the host. */
  readonly workspace: string;
  readonly access: "read" | "write";
}

/** Paths are relative to the workspace's root, with `/` between their parts; the root itself is `.`. */
export type FileOperation =
  /** `limit` 0 is all of it. */
  | { readonly kind: "read"; readonly path: string; readonly offset: number; readonly limit: number }
  | {
      readonly kind: "list";
      readonly path: string;
      /** 1 is the directory's own entries. */
      readonly depth: number;
      readonly glob: string | undefined;
      readonly hidden: boolean;
      readonly limit: number;
    }
  | {
      readonly kind: "write";
      readonly path: string;
      readonly content: Uint8Array;
      readonly mode: "replace" | "create_only" | "append";
    }
  | {
      readonly kind: "edit";
      readonly path: string;
      readonly oldContent: string;
      readonly newContent: string;
      readonly replaceAll: boolean;
    }
  | { readonly kind: "delete"; readonly path: string; readonly recursive: boolean }
  | { readonly kind: "move"; readonly source: string; readonly destination: string; readonly overwrite: boolean }
  /** Puts back what was there before: the undo of any of the others. Only if `expected` is what is there now. */
  | {
      readonly kind: "restore";
      readonly path: string;
      readonly expected: FileState;
      readonly before: FileState;
      /** The bytes of the file that was there. */
      readonly content: Uint8Array | AsyncIterable<Uint8Array> | undefined;
    }
  /** What is at a path now, to tell after a crash whether an effect has happened. */
  | { readonly kind: "inspect"; readonly path: string };

/** What is at a path. Hashes are lower-case hex of BLAKE3. */
export type FileState =
  | { readonly kind: "absent" }
  | { readonly kind: "file"; readonly hash: string; readonly size: number; readonly mode: number }
  | { readonly kind: "directory"; readonly mode: number }
  | { readonly kind: "link"; readonly target: string }
  /** A pipe, a socket or a device: seen by `inspect`, touched by nothing. */
  | { readonly kind: "other" };

/** Something that an operation would change, as it is now. */
export interface Preimage {
  readonly path: string;
  readonly state: FileState;
  /** Of a file: its bytes. Throws before the end if they are not those of `state`. To be read before the commit. */
  content(): AsyncIterable<Uint8Array>;
}

export interface PreparedOperation {
  /** The real paths of what is held open: what was named, or what links inside the workspace lead to. */
  readonly opened: readonly string[];
  /**
   * What would be replaced or taken away; empty for operations that change nothing. What is moved is not taken away: a
   * move is undone by a move.
   */
  preimages(): AsyncIterable<Preimage>;
  /**
   * Does it, if what is held still is what its name stands for, unchanged since it was opened; fails with
   * EXECUTION_FAILED otherwise, and has changed nothing. After a SANDBOX_ERROR only `inspect` tells whether it was done.
   * Errors that are known to have changed nothing say so (`changedNothing`).
   */
  commit(): Promise<FileResult>;
  /** Lets go of what is held. Nothing was done. */
  abandon(): Promise<void>;
}

export type FileResult =
  /** `size` is the file's, `length` that of what was asked for. The file is held until `content` was read or left. */
  | {
      readonly kind: "read";
      readonly size: number;
      readonly length: number;
      readonly content: AsyncIterable<Uint8Array>;
    }
  /** In the order of a walk: names sorted by their bytes, a directory before what is in it. */
  | { readonly kind: "list"; readonly entries: readonly ListedEntry[]; readonly partial: boolean }
  /** `lines` are those on which an edit replaced something, as they were; at most a thousand. */
  | { readonly kind: "changed"; readonly changes: readonly FileChange[]; readonly lines: readonly number[] }
  | { readonly kind: "inspect"; readonly state: FileState };

export interface ListedEntry {
  /** Relative to the listed directory. */
  readonly name: string;
  /** False where the name is not UTF-8: it is shown with replacement characters, and cannot be used as a path. */
  readonly isExact: boolean;
  readonly kind: "file" | "directory" | "link" | "other";
  /** Of a file; 0 for all else. */
  readonly size: number;
}

/**
 * One path that an operation changed. To take back what an operation did, paths that were absent before go from the
 * last to the first, then the others come back from the first to the last.
 */
export interface FileChange {
  readonly path: string;
  readonly before: FileState;
  readonly after: FileState;
}

/** Which part of which file a call has read. */
export interface FileReading {
  readonly path: string;
  readonly offset: number;
  readonly size: number;
  /** Of what was read: lower-case hex. */
  readonly hash: string;
  /** How many bytes the whole file has; not recorded by earlier versions. */
  readonly of?: number;
}
