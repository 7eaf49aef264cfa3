/** What the kernel and a file worker say to each other, each in the header of a frame. */

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
  /** The text to find is the payload; the text to put there comes with the commit. */
  | { readonly kind: "edit"; readonly path: string; readonly replaceAll: boolean }
  | { readonly kind: "delete"; readonly path: string; readonly recursive: boolean }
  | { readonly kind: "move"; readonly source: string; readonly destination: string; readonly overwrite: boolean }
  | { readonly kind: "restore"; readonly path: string; readonly before: ItemState }
  | { readonly kind: "inspect"; readonly path: string };

export type WorkerRequest =
  | {
      readonly type: "start";
      /** Where the workspace is outside: a link to a place in it by that name stays inside. */
      readonly workspace: string;
      /** How names of temporary files begin: those of one kernel's home, of one run of it, and of this worker. */
      readonly ownedPrefix: string;
      readonly runPrefix: string;
      readonly temporaryPrefix: string;
      /** Directories in which an earlier worker may have left temporary files, and how their names begin. */
      readonly sweep: ReadonlyArray<{ readonly path: string; readonly prefix: string }>;
    }
  | { readonly type: "prepare"; readonly operation: WorkerOperation }
  /** Bytes of an item that is held open. */
  | { readonly type: "pull"; readonly item: number; readonly offset: number; readonly length: number }
  /** What is in a directory: of a listing, or of a tree that is to be deleted. */
  | { readonly type: "entries"; readonly from: number }
  /** A piece of what is to be written; all but the last, which comes with the commit. Not answered. */
  | { readonly type: "content" }
  | { readonly type: "commit" }
  /** Not answered. */
  | { readonly type: "abandon" };

/** What is at a path, as far as it can be told without reading it. */
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
  /** What is held open. */
  readonly items: readonly Item[];
  /** The payload is the first item's content, from where a read begins. */
  readonly inline: boolean;
  /** Whether anything is held: if not, nothing needs to be abandoned. */
  readonly held: boolean;
  /** Of an edit: where the text stands. As many 8-byte numbers stand before the inline content. */
  readonly occurrences?: number;
  readonly lines?: readonly number[];
}

export interface DoneReply {
  readonly type: "done";
  /** What the operation left at the first item's path: its mode, where it has one. */
  readonly mode: number;
  /** Directories that had to be made, outermost first. */
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

/** The kernel has the words for each: a worker's own are never shown. */
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
