/**
 * File access in a session's workspace.
 *
 * SECURITY: behind this port there is no gap between check and use: a path is walked from the workspace's root,
 * component by component, the result is held open, and exactly that is read or changed. The opened paths are reported
 * before anything is done, so that they can be decided on again if they differ from the named ones.
 */
export interface WorkspaceFiles {
  /**
   * Opens the files of an operation without doing anything yet. Throws a KernelError with the code of the problem. The
   * signal also cancels all later steps, up to the moment at which a change is made: the change is then completed.
   */
  prepare(place: WorkspaceMount, operation: FileOperation, signal: AbortSignal): Promise<PreparedOperation>;
}

export interface WorkspaceMount {
  /** Absolute, real path on the host. */
  readonly workspace: string;
  readonly access: "read" | "write";
}

/** Paths are relative to the workspace's root, with `/` between components; the root itself is `.`. */
export type FileOperation =
  /** A `limit` of 0 reads to the end. */
  | { readonly kind: "read"; readonly path: string; readonly offset: number; readonly limit: number }
  | {
      readonly kind: "list";
      readonly path: string;
      /** 1 lists only the directory's own entries. */
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
  /**
   * Restores the earlier state of a path, as the undo of any other operation. Only if the current state is `expected`.
   */
  | {
      readonly kind: "restore";
      readonly path: string;
      readonly expected: FileState;
      readonly before: FileState;
      /** The bytes of the earlier file. */
      readonly content: Uint8Array | AsyncIterable<Uint8Array> | undefined;
    }
  /** Returns the current state of a path, to determine after a crash whether an effect has happened. */
  | { readonly kind: "inspect"; readonly path: string };

/** The state of a path. Hashes are BLAKE3 in lower-case hex. */
export type FileState =
  | { readonly kind: "absent" }
  | { readonly kind: "file"; readonly hash: string; readonly size: number; readonly mode: number }
  | { readonly kind: "directory"; readonly mode: number }
  | { readonly kind: "link"; readonly target: string }
  /** A pipe, a socket or a device: reported by `inspect`, never changed. */
  | { readonly kind: "other" };

/** The current state of a path that an operation would change. */
export interface Preimage {
  readonly path: string;
  readonly state: FileState;
  /** The bytes of a file. Throws before the end if they do not match `state`. Must be read before the commit. */
  content(): AsyncIterable<Uint8Array>;
}

export interface PreparedOperation {
  /** The real paths of the opened files: the named ones, or the targets of links inside the workspace. */
  readonly opened: readonly string[];
  /**
   * States that would be replaced or removed; empty for operations that change nothing. A moved entry does not count as
   * removed, because a move is undone by a move.
   */
  preimages(): AsyncIterable<Preimage>;
  /**
   * Carries out the operation if the opened files are still at their paths and unchanged since they were opened;
   * otherwise fails with EXECUTION_FAILED and changes nothing. After a SANDBOX_ERROR only `inspect` can tell whether it
   * was done. Errors that are known to have changed nothing have `changedNothing` set.
   */
  commit(): Promise<FileResult>;
  /** Closes the opened files without carrying out the operation. */
  abandon(): Promise<void>;
}

export type FileResult =
  /**
   * The `size` of the file, and the `length` of the requested part. The file is held open until `content` is read or
   * abandoned.
   */
  | {
      readonly kind: "read";
      readonly size: number;
      readonly length: number;
      readonly content: AsyncIterable<Uint8Array>;
    }
  /** In walk order: names sorted by their bytes, a directory before its entries. */
  | { readonly kind: "list"; readonly entries: readonly ListedEntry[]; readonly partial: boolean }
  /** `lines` are the numbers of the lines, before the edit, on which something was replaced; at most a thousand. */
  | { readonly kind: "changed"; readonly changes: readonly FileChange[]; readonly lines: readonly number[] }
  | { readonly kind: "inspect"; readonly state: FileState };

export interface ListedEntry {
  /** Relative to the listed directory. */
  readonly name: string;
  /** False if the name is not valid UTF-8: it contains replacement characters and cannot be used as a path. */
  readonly isExact: boolean;
  readonly kind: "file" | "directory" | "link" | "other";
  /** Size of a file; 0 for any other kind. */
  readonly size: number;
}

/**
 * One path that an operation changed. To revert an operation, first remove the paths that were absent before, from the
 * last to the first, then restore the others from the first to the last.
 */
export interface FileChange {
  readonly path: string;
  readonly before: FileState;
  readonly after: FileState;
}

/** A part of a file that a call has read. */
export interface FileReading {
  readonly path: string;
  readonly offset: number;
  readonly size: number;
  /** Hash of the bytes read, in lower-case hex. */
  readonly hash: string;
  /** Size of the whole file; not recorded by earlier versions. */
  readonly of?: number;
}
