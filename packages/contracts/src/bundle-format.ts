/** SPEC: docs/formats/bundle.md. Constants shared by the writer and the reader of bundles. */

export const BUNDLE_MAGIC = "NTXBNDL1";
export const BUNDLE_FORMAT = 1;

/** The kinds of parts, in file order. */
export const BUNDLE_PARTS = {
  head: 1,
  record: 2,
  content: 3,
  bytes: 4,
  key: 5,
  checkpoint: 6,
  tree: 7,
  index: 8,
  tail: 9,
} as const;

/** Each part begins with its kind (one byte) and its length (eight bytes). */
export const BUNDLE_PART_HEAD_BYTES = 9;
/** Digest, offset and size. */
export const BUNDLE_INDEX_ENTRY_BYTES = 48;
/** Three offsets, the number of records, and a hash. */
export const BUNDLE_TAIL_BYTES = 4 * 8 + 32;
/** Maximum size of a part that a reader loads into memory, by kind. Parts of kind `bytes` are always streamed. */
export const BUNDLE_LIMITS = {
  headBytes: 4096,
  recordBytes: 16 * 1024 * 1024,
  contentBytes: 512 * 1024 * 1024,
  noteBytes: 16 * 1024,
  keys: 1000,
  treeBytes: 512 * 1024 * 1024,
} as const;
