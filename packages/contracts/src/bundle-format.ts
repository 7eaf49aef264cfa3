/** SPEC: docs/formats/bundle.md. What a bundle's writer and its reader share: numbers, and no code. */

export const BUNDLE_MAGIC = "NTXBNDL1";
export const BUNDLE_FORMAT = 1;

/** The kinds of parts, in the order in which they stand. */
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

/** A kind and a length of eight bytes stand before each part. */
export const BUNDLE_PART_HEAD_BYTES = 9;
/** Digest, offset and size. */
export const BUNDLE_INDEX_ENTRY_BYTES = 48;
/** Three offsets, the number of records, and a hash. */
export const BUNDLE_TAIL_BYTES = 4 * 8 + 32;
/** The largest part that a reader takes into memory, by what it is. Parts of bytes are only ever streamed. */
export const BUNDLE_LIMITS = {
  headBytes: 4096,
  recordBytes: 16 * 1024 * 1024,
  contentBytes: 512 * 1024 * 1024,
  noteBytes: 16 * 1024,
  keys: 1000,
  treeBytes: 512 * 1024 * 1024,
} as const;
