/** Every size and length the wire, the store and the views obey. 1 KB is 1024 bytes. */

const KB = 1024;
const MB = 1024 * KB;

/** Longest identifier, in characters. */
export const MAX_ID_LEN = 256;
/** Longest path, in characters. */
export const MAX_PATH_LEN = 4096;
/** Most bytes one file_read asks for. */
export const MAX_READ_LIMIT = 1024 * MB;
/** Most bytes one file_write carries. */
export const MAX_WRITE_SIZE = 100 * MB;
/** Most bytes of either side of a file_edit. */
export const MAX_EDIT_SIZE = 10 * MB;
/** Longest shell command, in bytes. */
export const MAX_COMMAND_LEN = MB;
export const MAX_TIMEOUT_MS = 3_600_000;
/** Longest argument, env entry or metadata entry, in bytes. */
export const MAX_ARG_LEN = 32 * KB;
/** All variables of a command together, in bytes: half of what Linux gives a process for them and its arguments. */
export const MAX_ENV_BYTES = MB;
/** Most tokens one inference asks for. */
export const MAX_TOKENS = 1_000_000;
/** Length of a BLAKE3 hash, in bytes. */
export const HASH_SIZE = 32;
/** Most entries of a repeated field. */
export const MAX_REPEATED_ITEMS = 1000;

/** Results up to this size travel in the response. */
export const MAX_INLINE_RESULT_BYTES = MB;
/** Content up to this size lies in its record's own row. */
export const MAX_ROW_CONTENT_BYTES = 64 * KB;
/** Longest frame of the framed door. */
export const MAX_FRAME_BYTES = 128 * MB;
/** Longest JSON input of a ToolCall. */
export const MAX_CALL_INPUT_BYTES = 96 * MB;
/** Longest canonical JSON of a typed message: its content as text, or in base64. */
export const MAX_TYPED_INPUT_BYTES = 256 * MB;
/** Longest JSON body of the HTTP doors. */
export const MAX_JSON_BODY_BYTES = 8 * MB;
/** Deepest nesting of arrays and objects. */
export const MAX_JSON_DEPTH = 128;
/** Most values in one JSON text: an empty object takes two bytes of text and sixty of memory. */
export const MAX_JSON_ITEMS = 2_000_000;
export const DEFAULT_TIMEOUT_MS = 30_000;
/** How much of a result a model is shown unless the tool says otherwise. */
export const DEFAULT_VIEW_BYTES = 16 * KB;

/** Where every session's logical clock starts: 2000-01-01T00:00:00Z. */
export const LOGICAL_EPOCH_MS = 946_684_800_000;
/** How far a logical clock moves with each call. */
export const LOGICAL_TICK_MS = 1000;
