/** Limits on sizes and lengths for the wire, the store and the views. 1 KB is 1024 bytes. */

const KB = 1024;
const MB = 1024 * KB;

/** Maximum length of an identifier, in characters. */
export const MAX_ID_LEN = 256;
/** Maximum length of a path, in characters. */
export const MAX_PATH_LEN = 4096;
/** Maximum number of bytes that one file_read can request. */
export const MAX_READ_LIMIT = 1024 * MB;
/** Maximum number of bytes in one file_write. */
export const MAX_WRITE_SIZE = 100 * MB;
/** Maximum number of bytes on either side of a file_edit. */
export const MAX_EDIT_SIZE = 10 * MB;
/** Maximum length of a shell command, in bytes. */
export const MAX_COMMAND_LEN = MB;
export const MAX_TIMEOUT_MS = 3_600_000;
/** Maximum length of an argument, env entry or metadata entry, in bytes. */
export const MAX_ARG_LEN = 32 * KB;
/**
 * Maximum size of all variables of a command, in bytes: half of what Linux gives a process for variables and arguments.
 */
export const MAX_ENV_BYTES = MB;
/** Maximum number of tokens that one inference can request. */
export const MAX_TOKENS = 1_000_000;
/** Length of a BLAKE3 hash, in bytes. */
export const HASH_SIZE = 32;
/** Maximum number of entries of a repeated field. */
export const MAX_REPEATED_ITEMS = 1000;

/** Results up to this size are part of the response. */
export const MAX_INLINE_RESULT_BYTES = MB;
/** Content up to this size is stored in the row of its record. */
export const MAX_ROW_CONTENT_BYTES = 64 * KB;
/** Maximum length of a frame on the framed door. */
export const MAX_FRAME_BYTES = 128 * MB;
/** Maximum length of the JSON input of a ToolCall. */
export const MAX_CALL_INPUT_BYTES = 96 * MB;
/** Maximum length of the canonical JSON of a typed message, with its content as text or in base64. */
export const MAX_TYPED_INPUT_BYTES = 256 * MB;
/** Maximum length of a JSON body on the HTTP doors. */
export const MAX_JSON_BODY_BYTES = 8 * MB;
/** Maximum nesting of arrays and objects. */
export const MAX_JSON_DEPTH = 128;
/** Maximum number of values in one JSON text: an empty object takes two bytes of text and sixty of memory. */
export const MAX_JSON_ITEMS = 2_000_000;
export const DEFAULT_TIMEOUT_MS = 30_000;
/** How much of a result a model is shown, unless the tool sets another bound. */
export const DEFAULT_VIEW_BYTES = 16 * KB;

/** Start of every session's logical clock: 2000-01-01T00:00:00Z. */
export const LOGICAL_EPOCH_MS = 946_684_800_000;
/** How far a logical clock advances with each call. */
export const LOGICAL_TICK_MS = 1000;
