/** Messages between the kernel and a file worker; each is the header of a worker message. */

/** Paths are relative to the workspace, with `/` between their parts; the workspace itself is `.`. */
export type WorkerOperation =
  | { readonly kind: "read"; readonly path: string; readonly offset: number; readonly limit: number }
  | {
      readonly kind: "list";
      readonly path: string;
      readonly depth: number;
      readonly glob: string | null;
      readonly hidden: boolean;
      readonly limit: number;
    }
  | { readonly kind: "write"; readonly path: string; readonly mode: "replace" | "create_only" | "append" }
  /** The text to find is the payload; the replacement is sent with the commit. */
  | { readonly kind: "edit"; readonly path: string; readonly replaceAll: boolean }
  | { readonly kind: "delete"; readonly path: string; readonly recursive: boolean }
  | { readonly kind: "move"; readonly source: string; readonly destination: string; readonly overwrite: boolean }
  | { readonly kind: "restore"; readonly path: string; readonly before: ItemState }
  | { readonly kind: "inspect"; readonly path: string };

export type WorkerRequest =
  | {
      readonly type: "start";
      /**
       * Path of the workspace outside the sandbox. Absolute links below this path are resolved inside the workspace.
       */
      readonly workspace: string;
      /** Prefixes of temporary file names: of one kernel's home, of one run of it, and of this worker. */
      readonly ownedPrefix: string;
      readonly runPrefix: string;
      readonly temporaryPrefix: string;
      /** Directories in which an earlier worker may have left temporary files, and the prefix of their names. */
      readonly sweep: ReadonlyArray<{ readonly path: string; readonly prefix: string }>;
    }
  | { readonly type: "prepare"; readonly operation: WorkerOperation }
  /** Requests bytes of an item that is held open. */
  | { readonly type: "pull"; readonly item: number; readonly offset: number; readonly length: number }
  /** Requests the entries of a listing, or of a tree that is to be deleted. */
  | { readonly type: "entries"; readonly from: number }
  /** A chunk of the content to write. The last chunk is sent with the commit. Has no response. */
  | { readonly type: "content" }
  | { readonly type: "commit" }
  /** Has no response. */
  | { readonly type: "abandon" };

/** State of the entry at a path, as far as known without reading it. */
export type ItemState =
  | { readonly kind: "absent" }
  | { readonly kind: "file"; readonly size: number; readonly mode: number }
  | { readonly kind: "directory"; readonly mode: number }
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "other" };

export interface Item {
  readonly path: string;
  readonly state: ItemState;
}

export type WorkerReply =
  /** Device and inode of the workspace, as decimal digits. */
  | { readonly type: "ready"; readonly device: string; readonly inode: string }
  | PreparedReply
  | { readonly type: "chunk" }
  | { readonly type: "entries"; readonly total: number; readonly partial: boolean }
  | DoneReply
  | FailedReply;

export interface PreparedReply {
  readonly type: "prepared";
  /** Items that are held open. */
  readonly items: readonly Item[];
  /** Whether the payload is the content of the first item, from the offset of the read. */
  readonly inline: boolean;
  /** Whether anything is held open: if not, the operation does not have to be abandoned. */
  readonly held: boolean;
  /** Of an edit: the number of positions. They precede the inline content, as 8-byte numbers. */
  readonly occurrences?: number;
  readonly lines?: readonly number[];
}

export interface DoneReply {
  readonly type: "done";
  /** Mode of the entry that the operation left at the path of the first item, if it has one. */
  readonly mode: number;
  /** Directories that were created, outermost first. */
  readonly made: readonly Item[];
}

export interface FailedReply {
  readonly type: "failed";
  readonly code: FaultCode;
  readonly reason: FaultReason;
  /** Of a commit: it failed before anything was changed. */
  readonly unchanged?: boolean;
  readonly errno?: string;
  readonly count?: number;
  readonly lines?: readonly number[];
}

export type FaultCode = (typeof FAULT_CODES)[number];
export type FaultReason = (typeof FAULT_REASONS)[number];

export const FAULT_CODES = [
  "FILE_NOT_FOUND",
  "FILE_EXISTS",
  "NOT_A_FILE",
  "NOT_A_DIRECTORY",
  "DIRECTORY_NOT_EMPTY",
  "NO_MATCH",
  "MULTIPLE_MATCHES",
  "PATH_ESCAPE",
  "NOT_TEXT",
  "RESOURCE_EXCEEDED",
  "INVALID_INPUT",
  "EXECUTION_FAILED",
] as const;

/** The kernel has a text for each: text of a worker is never displayed. */
export const FAULT_REASONS = [
  "code",
  "absolute-link",
  "other-device",
  "too-many-links",
  "link-name",
  "name",
  "root",
  "changed",
  "unsettled",
  "directory-there",
  "into-itself",
  "file-too-large",
  "too-many-occurrences",
  "tree-too-large",
  "tree-too-deep",
  "unwritable-tree",
  "system",
] as const;
